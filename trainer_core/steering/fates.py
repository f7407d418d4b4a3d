"""Fates of prompts that a curriculum has handed out: trained, rejected by a filter, or dropped for a reason."""

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from trainer_core.episodes import Group

FateKind = Literal["trained", "rejected", "dropped"]
FATE_KINDS: tuple[FateKind, ...] = get_args(FateKind)
NOT_FILTERS = frozenset({"reward_error", "pruned", "pivot", "no_value"})
"""Reasons other than filters for leaving a trajectory out of the loss."""
DYNAMIC_SAMPLING = "dynamic_sampling"
"""Rejects a group without signal before it is in a batch."""
NO_TOKENS = "no_sampled_tokens"
"""Drops a group in which the policy sampled nothing that could be learned."""
UNNAMED = "unnamed"
"""Stands for a filter that gives no reason."""
MAX_REASON = 120
"""Longest reason, in characters."""
RUN_ENDED = "run_ended"
"""Drops a group that was handed out for a batch that the run no longer needs."""


@dataclass(frozen=True, slots=True)
class Fate:
    """Fate of one prompt."""

    kind: FateKind
    reason: str | None = None
    """The filter that rejected it, or why it was dropped; None if it was trained on."""

    TRAINED: ClassVar["Fate"]

    def __post_init__(self) -> None:
        if (self.kind == "trained") != (self.reason is None) or self.reason == "":
            raise ValueError(f"a {self.kind} prompt with the reason {self.reason!r}: only trained ones have none")

    @classmethod
    def rejected(cls, by: str) -> "Fate":
        """Fate of a group that the filter ``by`` left out."""
        return cls("rejected", by)

    @classmethod
    def dropped(cls, reason: str) -> "Fate":
        """Fate of a group that was not trained on, though no filter left it out."""
        return cls("dropped", reason)


Fate.TRAINED = Fate("trained")


def fate_of(group: Group) -> Fate:
    """Fate of a group that was in a learned batch.

    It is trained if the policy's loss had at least one of its trajectories. Otherwise the reason that left out most of
    them counts, of equally frequent ones the first by name.
    """
    sampled = [trajectory for trajectory in group.trajectories if trajectory.sampled.any()]
    if any(trajectory.excluded is None for trajectory in sampled):
        return Fate.TRAINED
    reasons = Counter(t.excluded for t in group.trajectories if t.excluded is not None)
    if not reasons:
        return Fate.dropped(NO_TOKENS)
    reason = min(reasons, key=lambda name: (-reasons[name], name))
    # Filters of plug-ins give any text.
    return Fate.dropped(reason) if reason in NOT_FILTERS else Fate.rejected(reason[:MAX_REASON] or UNNAMED)
