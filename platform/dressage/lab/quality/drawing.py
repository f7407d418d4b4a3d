"""Rows that a person should mark: evenly spread over low and high scores, and reproducible."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from dressage.lab.asking.rows import rank

STRATA = 5
"""Number of equally wide intervals that scores from 0 to 1 are divided into."""
MOST_MARKS = 200
"""Maximum number of rows drawn, and of marks in one request."""
TO_MARK = 40
"""Default number of rows that a person should mark."""


class ScoredRow(NamedTuple):
    """A row that the judge has scored."""

    number: int
    """Its number, from 0."""
    id: str
    score: float


def drawn(rows: Sequence[ScoredRow], size: int, seed: Any) -> list[ScoredRow]:
    """Draw at most ``size`` rows, spread evenly over the non-empty strata of scores.

    They are returned in drawing order: one row per stratum in turn, in random order within each turn. A smaller draw
    gives the first of these rows. The result depends only on the ids and the seed.
    """
    strata: list[list[ScoredRow]] = [[] for _ in range(STRATA)]
    for row in sorted(rows, key=lambda one: (rank(one.id, f"{seed} drawn"), one.number)):
        strata[min(int(row.score * STRATA), STRATA - 1)].append(row)
    found: list[ScoredRow] = []
    for turn in range(max(map(len, strata))):
        found += shuffled([stratum[turn] for stratum in strata if turn < len(stratum)], f"{seed} {turn}")
    return found[:size]


def shuffled(rows: Sequence[ScoredRow], seed: Any) -> list[ScoredRow]:
    """The rows in an order that does not reveal their scores."""
    return sorted(rows, key=lambda one: (rank(one.id, seed), one.number))
