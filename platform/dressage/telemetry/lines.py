"""Selection of the points that count, per attempt.

A new attempt resumes from a checkpoint. Steps that earlier attempts trained after it are superseded: stored, but not
part of the run's line. So attempt a counts for the steps up to the smallest resume step of all later attempts.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from django.db.models import Q

FOREVER = 2**31 - 1
NOTHING = -(2**31)
"""The end of an attempt none of whose steps count."""


@dataclass(frozen=True)
class Line:
    """``ends[a]`` is the last step at which attempt a counts."""

    ends: dict[int, int]

    @classmethod
    def from_attempts(cls, attempts: list[tuple[int, int]]) -> Self:
        """Build the line from (number, resume step) of each attempt."""
        ends: dict[int, int] = {}
        end = FOREVER
        for number, resume_step in sorted(attempts, reverse=True):
            ends[number] = end
            end = min(end, resume_step)
        return cls(dict(sorted(ends.items())))

    def cut(self, last: int, later: Iterable[int]) -> Self:
        """Cut the line after step ``last``; no step of the attempts in ``later`` counts."""
        ends = {number: min(end, last) for number, end in self.ends.items()}
        return type(self)(dict(sorted((ends | dict.fromkeys(later, NOTHING)).items())))

    def has(self, attempt: int, step: int) -> bool:
        """Whether a point counts."""
        return step <= self.ends.get(attempt, FOREVER)

    @property
    def is_single(self) -> bool:
        """Whether there was only one attempt and it is not cut, so that everything counts."""
        return len(self.ends) < 2 and all(end == FOREVER for end in self.ends.values())

    def condition(self, superseded: bool = False) -> Q:
        """Rows (with ``attempt`` and ``step``) on the line, or superseded ones."""
        found = Q(attempt__in=[]) if superseded else Q()
        for attempt, end in self.ends.items():
            if end == FOREVER:
                continue
            beyond = Q(attempt=attempt, step__gt=end)
            found = found | beyond if superseded else found & ~beyond
        return found
