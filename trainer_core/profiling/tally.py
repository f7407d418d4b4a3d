"""Tallies: the counts of each row so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

States = Mapping[tuple[int, int], int]
"""Number of rows by (graded samples, right samples), on which alone the difficulty of a version depends."""


@dataclass(frozen=True, slots=True)
class WrongAnswer:
    """One wrong answer to a row, and how many samples gave it."""

    text: str
    votes: int


@dataclass(frozen=True, slots=True)
class RowTally:
    """The samples of one row."""

    asked: int = 0
    """Samples that were taken, including those without a reward."""
    samples: int = 0
    """Samples that could be graded."""
    correct: int = 0
    answers: tuple[WrongAnswer, ...] = ()
    """Wrong answers, the most frequent first; answers that the grader considers equal are merged."""

    @property
    def leading(self) -> WrongAnswer | None:
        """The most frequent wrong answer; None if none was read."""
        return self.answers[0] if self.answers else None


def count_states(tallies: Iterable[RowTally]) -> Counter[tuple[int, int]]:
    """Number of rows by (graded samples, right samples); rows without a graded sample are left out."""
    return Counter((tally.samples, tally.correct) for tally in tallies if tally.samples)
