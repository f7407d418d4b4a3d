"""Tallies: what was counted of each row so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

States = Mapping[tuple[int, int], int]
"""Number of rows by (graded samples, right ones): all that the difficulty of a version depends on."""


@dataclass(frozen=True, slots=True)
class WrongAnswer:
    """One wrong answer to a row, and how many samples gave it."""

    text: str
    votes: int


@dataclass(frozen=True, slots=True)
class RowTally:
    """The samples of one row."""

    asked: int = 0
    """Samples that were taken, those without a reward included."""
    samples: int = 0
    """Samples that could be graded."""
    correct: int = 0
    answers: tuple[WrongAnswer, ...] = ()
    """Wrong answers, the most frequent first; answers that the grader holds for equal are one."""

    @property
    def leading(self) -> WrongAnswer | None:
        """The most frequent wrong answer; None where none was read."""
        return self.answers[0] if self.answers else None


def count_states(tallies: Iterable[RowTally]) -> Counter[tuple[int, int]]:
    """Number of rows by (graded samples, right ones); rows without a graded sample are left out."""
    return Counter((tally.samples, tally.correct) for tally in tallies if tally.samples)
