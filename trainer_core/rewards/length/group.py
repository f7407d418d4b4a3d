"""Facts about a group that length shaping sees."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ScoredGroup:
    """The samples of one prompt whose reward could be computed; sequences have one entry per sample, shape [S]."""

    rewards: Sequence[float]
    lengths: Sequence[int]
    """Completion tokens."""
    right: Sequence[bool]
    """Whether the answer counts as right."""
    cut_off: Sequence[bool]
    """Whether the completion ended because it reached the maximum length."""
    max_tokens: int
    """Longest completion when the group was dispatched."""
    target: int | None = None
    """Length that the prompt asks for, where it names one."""

    @property
    def pass_rate(self) -> float:
        """Share of right answers; 0 for an empty group."""
        return sum(self.right) / len(self.right) if self.right else 0.0
