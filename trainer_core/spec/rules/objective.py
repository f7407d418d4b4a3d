"""Rules on the objective: sections that it needs, and those that it has no use for."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from trainer_core.spec.learner.precision import UnifiedPrecision
from trainer_core.spec.objective import Preference

if TYPE_CHECKING:
    from trainer_core.spec.run import RunSpec

Path = tuple[str | int, ...]

_UNUSED = (
    ("data", "sft"),
    ("data", "stages"),
    ("parallelism", "rollout_workers"),
    ("parallelism", "least_rollout_workers"),
    ("parallelism", "reward_workers"),
    ("schedule", "epochs"),
    ("evaluation", "samples_per_prompt"),
    ("evaluation", "pass_at"),
    ("evaluation", "temperature"),
    ("evaluation", "thinking_budget"),
)
"""Fields of shared sections that only reinforcement learning uses."""


def unused(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """Sections and fields that a run without samples and rewards would ignore."""
    what = f"a run with objective.type = {spec.objective.type}"
    for name in type(spec).model_fields:
        if name in spec.model_fields_set and name not in spec.members:
            yield (name,), f"{what} samples no completions: remove {name}"
    for path in _UNUSED:
        section = getattr(spec, path[0])
        if getattr(section, path[1]) != _default(section, path[1]):
            yield path, f"{what} has no use for {'.'.join(path)}: remove it"
    if isinstance(spec.precision, UnifiedPrecision):
        yield ("precision",), f"{what} has no engine whose rounding the learner could adopt: choose float32"


def learns_rows(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """Examples that fit into no micro-batch; steps that cannot be split."""
    objective, cut, schedule = spec.examples, spec.parallelism, spec.schedule
    if objective is None:
        return
    room = cut.max_tokens_per_microbatch * cut.context_parallel_size
    pairs = isinstance(objective, Preference)
    if objective.max_tokens * (2 if pairs else 1) > room:
        what = "a pair of completions of" if pairs else "an example of"
        yield (
            ("parallelism", "max_tokens_per_microbatch"),
            f"{what} objective.max_tokens ({objective.max_tokens}) tokens does not fit into one microbatch ({room})",
        )
    if schedule.prompts_per_step % schedule.updates_per_step:
        yield (
            ("schedule", "updates_per_step"),
            f"{schedule.prompts_per_step} examples cannot be split into {schedule.updates_per_step} equal parts",
        )
    groups = cut.learner_ranks // cut.context_parallel_size
    if (least := schedule.prompts_per_step // schedule.updates_per_step) < groups:
        yield ("parallelism", "learner_ranks"), f"a minibatch of {least} examples cannot feed {groups} ranks"
    if spec.optimizer.warmup_steps >= schedule.steps and spec.optimizer.warmup_steps > 0:
        yield ("optimizer", "warmup_steps"), "the warm-up is as long as the run"
    if spec.policy.routing.replay:
        yield ("policy", "routing", "replay"), "there is no engine whose routes could be replayed"


def _default(section: Any, name: str) -> Any:
    return type(section).model_fields[name].default
