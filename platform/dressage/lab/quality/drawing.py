"""Rows that a person is to mark: as many of low as of high scores, the same ones each time."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from dressage.lab.asking.rows import rank

STRATA = 5
"""Parts of equal width that scores from 0 to 1 are divided into."""
MOST_MARKS = 200
"""Rows that are drawn, and marks of one request, at most."""
TO_MARK = 40
"""Rows that a person is to mark, unless they ask for more or less."""


class ScoredRow(NamedTuple):
    """A row that the judge has scored."""

    number: int
    """Its number, from 0."""
    id: str
    score: float


def drawn(rows: Sequence[ScoredRow], size: int, seed: Any) -> list[ScoredRow]:
    """Rows, ``size`` at most, spread evenly over the strata of scores that have any.

    They come in the order in which they are drawn, a row of each stratum in turn, in turns of random order: where fewer
    are drawn, they are the first of these. Which they are follows from their ids and the seed.
    """
    strata: list[list[ScoredRow]] = [[] for _ in range(STRATA)]
    for row in sorted(rows, key=lambda one: (rank(one.id, f"{seed} drawn"), one.number)):
        strata[min(int(row.score * STRATA), STRATA - 1)].append(row)
    found: list[ScoredRow] = []
    for turn in range(max(map(len, strata))):
        found += shuffled([stratum[turn] for stratum in strata if turn < len(stratum)], f"{seed} {turn}")
    return found[:size]


def shuffled(rows: Sequence[ScoredRow], seed: Any) -> list[ScoredRow]:
    """The rows in an order that does not tell their scores."""
    return sorted(rows, key=lambda one: (rank(one.id, seed), one.number))
