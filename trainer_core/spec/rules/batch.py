"""Rules on the making of batches: mixing schedules, group sizes, experience replay."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainer_core.spec.data.batching import DividedSamples, EqualAllocation
from trainer_core.spec.data.curriculum import AdaptiveRatioCurriculum
from trainer_core.spec.methods.advantage import MCGRPOAdvantage, PassKAdvantage
from trainer_core.spec.rules.off_policy import weighs

if TYPE_CHECKING:
    from trainer_core.spec.run import RunSpec

Path = tuple[str | int, ...]


def mixing(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """Transitions to nowhere: of unknown sources, to no weight at all, or after the end of the run."""
    transition = spec.data.transition
    if transition is None:
        return
    weights = {source.name: source.weight for source in spec.data.sources}
    named = [final.name for final in transition.sources]
    for index, name in enumerate(named):
        if name not in weights:
            yield ("data", "transition", "sources", index, "name"), f"there is no source {name!r}"
        if name in named[:index]:
            yield ("data", "transition", "sources", index, "name"), f"the source {name!r} is named twice"
    if not any((weights | {final.name: final.weight for final in transition.sources}).values()):
        yield ("data", "transition", "sources"), "at least one source needs a weight above zero after the transition"
    if transition.start >= spec.schedule.steps:
        yield ("data", "transition", "start"), f"the run ends at step {spec.schedule.steps}, before the transition"
    if isinstance(spec.curriculum, AdaptiveRatioCurriculum) and spec.curriculum.horizon is None:
        yield ("curriculum", "horizon"), "moving weights need a horizon: old groups were drawn under other weights"


def group_sizes(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """Allocations that leave the group size no room."""
    allocation, size = spec.batching.allocation, spec.rollout.group_size
    if not isinstance(allocation, EqualAllocation) and allocation.max_samples < size:
        yield (
            ("batching", "allocation", "max_samples"),
            f"max_samples ({allocation.max_samples}) must not be below the group size ({size})",
        )
    if isinstance(allocation, DividedSamples) and allocation.min_samples > size:
        yield (
            ("batching", "allocation", "min_samples"),
            f"min_samples ({allocation.min_samples}) must not be above the group size ({size})",
        )


def group_baselines(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """Advantages that ask for a certain number of samples, which an allocation does not give."""
    allocation, advantage = spec.batching.allocation, spec.advantage
    if isinstance(advantage, MCGRPOAdvantage) and not isinstance(allocation, EqualAllocation):
        yield (
            ("batching", "allocation"),
            ("mc_grpo needs an odd number of samples in every group: use the allocation equal"),
        )
    if (
        isinstance(advantage, PassKAdvantage)
        and isinstance(allocation, DividedSamples)
        and allocation.min_samples < advantage.k
    ):
        yield (
            ("batching", "allocation", "min_samples"),
            f"a group of {allocation.min_samples} has no sets of {advantage.k} samples",
        )


def experience_replay(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """Old groups without a weight for their age; more of them than there are."""
    old = spec.batching.replay
    if old is None:
        return
    if not weighs(spec):
        yield (
            ("batching", "replay"),
            "old groups were sampled by other weights: add a correction that weights them",
        )
    if old.per_step > old.capacity:
        yield (
            ("batching", "replay", "per_step"),
            f"{old.per_step} groups cannot return from a buffer of {old.capacity}",
        )
