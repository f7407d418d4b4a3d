"""Rules between the parts of a run spec: combinations that make no sense."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic_core import InitErrorDetails, PydanticCustomError

from trainer_core.metrics import find, placeholders
from trainer_core.spec.rollout import StreamedMode, TailBatchingScheduler
from trainer_core.spec.thinking import TaggedThinking

if TYPE_CHECKING:
    from trainer_core.spec.run import RunSpec

Path = tuple[str | int, ...]

GROUPWISE_ADVANTAGES = {"grpo", "dr_grpo", "rloo", "opo", "max_rl", "pass_at_k", "mc_grpo"}
"""Advantages of a group that depend on no other group."""
GROUPWISE_FILTERS = {"zero_advantage", "truncated"}
"""Filters that decide on a group by itself."""


def contradictions(spec: "RunSpec") -> list[InitErrorDetails]:
    """All contradictions of ``spec`` as pydantic error details, each with the path of the field to change."""
    found = []
    for check in (_data, _lengths, _thinking, _groups, _learner, _modes, _guards):
        for path, message in check(spec):
            # The message travels in the context, so that braces in user text are not taken as placeholders.
            error = PydanticCustomError("contradiction", "{message}", {"message": message})
            found.append(InitErrorDetails(type=error, loc=path, input=None))
    return found


def _data(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    names = [source.name for source in spec.data.sources]
    for index, name in enumerate(names):
        if name in names[:index]:
            yield ("data", "sources", index, "name"), f"the source name {name!r} is used twice"
    if not any(source.weight > 0 for source in spec.data.sources):
        yield ("data", "sources"), "at least one source needs a weight above zero"
    training = {source.dataset for source in spec.data.sources}
    held_out: set[str] = set()
    for index, evaluated in enumerate(spec.evaluation.sources):
        if evaluated.name in held_out:
            yield ("evaluation", "sources", index, "name"), f"the source name {evaluated.name!r} is used twice"
        held_out.add(evaluated.name)
        if evaluated.dataset in training:
            yield (
                ("evaluation", "sources", index, "dataset"),
                f"{evaluated.dataset} is trained on as well; an evaluation needs held-out data",
            )


def _lengths(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    engine, rollout = spec.rollout.engine, spec.rollout
    if rollout.max_tokens >= engine.max_model_len:
        yield (
            ("rollout", "max_tokens"),
            f"max_tokens ({rollout.max_tokens}) leaves no room for a prompt in max_model_len ({engine.max_model_len})",
        )
    overlong = spec.reward.overlong
    if overlong is not None and overlong.buffer >= rollout.max_tokens:
        yield (
            ("reward", "overlong", "buffer"),
            f"the overlong buffer ({overlong.buffer}) must be shorter than max_tokens ({rollout.max_tokens})",
        )
    if engine.max_model_len > spec.parallelism.max_tokens_per_microbatch:
        yield (
            ("parallelism", "max_tokens_per_microbatch"),
            f"a trajectory of max_model_len ({engine.max_model_len}) tokens would not fit into one microbatch",
        )


def _thinking(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    thinking = spec.thinking
    if not isinstance(thinking, TaggedThinking):
        if spec.evaluation.thinking_budget is not None:
            yield ("evaluation", "thinking_budget"), "a thinking budget needs a thinking policy (thinking.type = tags)"
        return
    if thinking.start == thinking.end:
        yield ("thinking", "end"), "the tags that open and close the thinking must differ"
    if thinking.forced_end is not None and not thinking.forced_end.endswith(thinking.end):
        yield ("thinking", "forced_end"), f"the forced end must finish with the closing tag {thinking.end!r}"
    if thinking.budget is not None and thinking.budget >= spec.rollout.max_tokens:
        yield (
            ("thinking", "budget"),
            f"a budget of {thinking.budget} never bites: max_tokens is {spec.rollout.max_tokens}",
        )


def _groups(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    if spec.rollout.group_size == 1:
        yield ("rollout", "group_size"), f"{spec.advantage.type} compares the samples of a group: it needs at least 2"


def _learner(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    if spec.schedule.prompts_per_step % spec.schedule.updates_per_step:
        yield (
            ("schedule", "updates_per_step"),
            f"{spec.schedule.prompts_per_step} prompts cannot be cut into {spec.schedule.updates_per_step} equal parts",
        )
    samples = spec.schedule.prompts_per_step * spec.rollout.group_size // spec.schedule.updates_per_step
    if samples < spec.parallelism.learner_ranks:
        yield (
            ("parallelism", "learner_ranks"),
            f"a minibatch of {samples} trajectories cannot feed {spec.parallelism.learner_ranks} ranks",
        )
    if spec.optimizer.warmup_steps >= spec.schedule.steps and spec.optimizer.warmup_steps > 0:
        yield ("optimizer", "warmup_steps"), "the warm-up is as long as the run"


def _modes(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """What each way of interleaving generation and learning can and cannot do."""
    rollout, partial = spec.rollout, spec.rollout.partial
    tails = isinstance(rollout.scheduler, TailBatchingScheduler)
    where, mode = ("rollout", "mode"), rollout.mode
    if isinstance(mode, StreamedMode):
        if spec.schedule.updates_per_step > 1:
            yield (
                where,
                "streamed learns a batch while it is generated, in one update: updates_per_step must be 1, "
                f"not {spec.schedule.updates_per_step}",
            )
        if spec.advantage.type not in GROUPWISE_ADVANTAGES:
            yield where, f"streamed needs each group's advantages at once; {spec.advantage.type} needs the whole batch"
        for member in spec.filters:
            if member.type not in GROUPWISE_FILTERS:
                yield where, f"streamed filters each group by itself; {member.type} needs the whole batch"
    if partial.over_provision > 1.0:
        if rollout.overlaps:
            yield (
                ("rollout", "partial", "over_provision"),
                f"{mode.type} never stops the engines at a full batch: over-provisioning is for sync and streamed",
            )
        elif isinstance(mode, StreamedMode) and not tails:
            yield (
                ("rollout", "partial", "over_provision"),
                "streamed is strictly on-policy: what is stopped cannot be continued by newer weights "
                "(tail_batching generates it afresh)",
            )
        elif not tails and partial.over_provision > partial.max_continuations + 1:
            yield (
                ("rollout", "partial", "over_provision"),
                f"{partial.over_provision:g} times the batch cannot all be learned within "
                f"{partial.max_continuations} continuations: at most {partial.max_continuations + 1}",
            )
    elif tails:
        yield (
            ("rollout", "scheduler"),
            "tail_batching stops the longest groups of a full batch: partial.over_provision must be above 1",
        )


def _guards(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """A guard on a metric that is never reported would watch nothing."""
    trained = {source.name for source in spec.data.sources}
    evaluated = {source.name for source in spec.evaluation.sources}
    for index, guard in enumerate(spec.guards):
        source = placeholders(guard.metric).get("source")
        reported = evaluated if guard.metric.startswith("eval/") else trained
        if find(guard.metric) is None:
            yield ("guards", index, "metric"), f"no metric is called {guard.metric!r}"
        elif source is not None and source not in reported:
            yield ("guards", index, "metric"), f"{guard.metric!r} is never reported: there is no such source"
