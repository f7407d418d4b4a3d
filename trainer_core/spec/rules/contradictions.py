"""Rules between the parts of a run spec: combinations that make no sense."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic_core import InitErrorDetails, PydanticCustomError

from trainer_core.spec.generation.thinking import TaggedThinking
from trainer_core.spec.methods.advantage import MCGRPOAdvantage, PassKAdvantage, VCPOAdvantage
from trainer_core.spec.methods.branching import VineAdvantage
from trainer_core.spec.rewards.length_shaping import DecoupledLength
from trainer_core.spec.rules.batch import experience_replay, group_baselines, group_sizes, mixing
from trainer_core.spec.rules.branches import branching
from trainer_core.spec.rules.engines import engines
from trainer_core.spec.rules.guards import guards
from trainer_core.spec.rules.learner import adapter, context, critic, memory, reference, teacher
from trainer_core.spec.rules.lengths import length_shaping, length_window, thinking_budgets
from trainer_core.spec.rules.modes import over_provisioning, streaming
from trainer_core.spec.rules.objective import learns_rows, unused
from trainer_core.spec.rules.off_policy import corrections, proximal, sampling
from trainer_core.spec.rules.precision import precision
from trainer_core.spec.rules.reward import evolution, shadows
from trainer_core.spec.rules.routing import routing
from trainer_core.spec.rules.stages import stages

if TYPE_CHECKING:
    from trainer_core.spec.run import RunSpec

Path = tuple[str | int, ...]


def contradictions(spec: "RunSpec") -> list[InitErrorDetails]:
    """All contradictions of ``spec`` as pydantic error details, each with the path of the field to change."""
    found = []
    for check in _of_rows if spec.examples is not None else _of_rl:
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
    cut = spec.parallelism
    if engine.max_model_len > cut.max_tokens_per_microbatch * cut.context_parallel_size:
        yield (
            ("parallelism", "max_tokens_per_microbatch"),
            f"a trajectory of max_model_len ({engine.max_model_len}) tokens does not fit into one microbatch",
        )


def _thinking(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    thinking = spec.thinking
    if not isinstance(thinking, TaggedThinking):
        if spec.evaluation.thinking_budget is not None:
            yield ("evaluation", "thinking_budget"), "a thinking budget needs a thinking policy (thinking.type = tags)"
        return
    if thinking.start == thinking.end:
        yield ("thinking", "end"), "the tags that open and close the thinking must differ"
    if thinking.forced_end is not None and not thinking.ends(thinking.forced_end):
        yield ("thinking", "forced_end"), f"the forced end must {thinking.how_to_end}"
    if thinking.budget is not None and thinking.budget >= spec.rollout.max_tokens:
        yield (
            ("thinking", "budget"),
            f"a budget of {thinking.budget} never applies: max_tokens is {spec.rollout.max_tokens}",
        )


def _episodes(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """Methods that know completions of one turn only."""
    if spec.rollout.environment is None:
        return
    if isinstance(spec.advantage, VineAdvantage):
        yield ("advantage",), "vine continues completions from their middle, without the environment's answers"
    if spec.rollout.early_stop.prune is not None:
        yield ("rollout", "early_stop", "prune"), "pruning compares completions of one turn: leave it empty"


def _groups(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    size, advantage = spec.rollout.group_size, spec.advantage
    if size == 1 and advantage.compares in ("group", "parts"):
        yield ("rollout", "group_size"), f"{advantage.type} compares the samples of a group: it needs at least 2"
    if isinstance(advantage, MCGRPOAdvantage) and size % 2 == 0:
        yield ("rollout", "group_size"), f"mc_grpo excludes the median of G + 1 samples, G even: {size} is not odd"
    if isinstance(advantage, PassKAdvantage) and advantage.k > size:
        yield ("advantage", "k"), f"a group of {size} has no sets of {advantage.k} samples"
    if isinstance(spec.reward.length, DecoupledLength) and isinstance(advantage, VCPOAdvantage):
        yield ("reward", "length"), "decoupled weights advantages that the learner recomputes under vcpo"


def _learner(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    if spec.schedule.prompts_per_step % spec.schedule.updates_per_step:
        yield (
            ("schedule", "updates_per_step"),
            f"{spec.schedule.prompts_per_step} prompts cannot be split into {spec.schedule.updates_per_step} equal"
            " parts",
        )
    samples = spec.schedule.prompts_per_step * spec.rollout.group_size // spec.schedule.updates_per_step
    groups = spec.parallelism.learner_ranks // spec.parallelism.context_parallel_size
    if samples < groups:
        ranks = "ranks" if spec.parallelism.context_parallel_size == 1 else "groups of ranks"
        yield ("parallelism", "learner_ranks"), f"a minibatch of {samples} trajectories cannot feed {groups} {ranks}"
    if spec.optimizer.warmup_steps >= spec.schedule.steps and spec.optimizer.warmup_steps > 0:
        yield ("optimizer", "warmup_steps"), "the warm-up is as long as the run"


_of_rl = (
    _data,
    _lengths,
    _thinking,
    thinking_budgets,
    length_shaping,
    length_window,
    mixing,
    stages,
    group_sizes,
    group_baselines,
    experience_replay,
    corrections,
    sampling,
    precision,
    engines,
    proximal,
    critic,
    branching,
    reference,
    teacher,
    routing,
    adapter,
    memory,
    context,
    _groups,
    _episodes,
    _learner,
    streaming,
    over_provisioning,
    shadows,
    evolution,
    guards,
)
"""Rules for reinforcement learning."""
_of_rows = (unused, _data, mixing, routing, adapter, memory, context, learns_rows, guards)
"""Rules for runs that learn from the rows of datasets."""
