"""Runs that a row shares with evaluation rows: the row that shares most, the share, and the longest stretch."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dressage.lab.contamination.evaluation import EvaluationRows
from dressage.lab.contamination.meetings import Meetings
from dressage.lab.tokens import Hashes, Marks, Places, grams, rows_of

_AT_ONCE = 2_000_000
"""Number of (run, evaluation row) pairs processed at a time."""


@dataclass(frozen=True, slots=True)
class Shared:
    """Runs that rows share, each with the evaluation row that it shares most with."""

    other: Places
    """Index of the row in the evaluation sets, or -1: of shape [rows]."""
    share: np.ndarray
    """Share of the distinct runs of the shorter of the two texts: of shape [rows]."""
    longest: Places
    """Length in words of the longest stretch of shared runs: of shape [rows]."""


def shared(meetings: Meetings, evaluation: EvaluationRows, common: Marks, run: int) -> Shared:
    """Compute share and longest stretch for each row.

    Args:
        meetings: the rows.
        evaluation: the rows of the evaluation sets.
        common: mask of runs to ignore, of shape [runs].
        run: words per run.
    """
    found, rows = grams(meetings.hashes, meetings.offsets, run, whole=False)
    numbers = evaluation.run_of(found)
    left_out = (numbers >= 0) & common[numbers] if len(common) else np.zeros(len(numbers), bool)
    count = len(meetings.numbers)
    mine = _different(found[~left_out], rows[~left_out], count)
    theirs = evaluation.sizes(common)
    made = Shared(np.full(count, -1, np.int64), np.zeros(count), np.zeros(count, np.int64))
    hits = np.flatnonzero((numbers >= 0) & ~left_out)
    for here in _stretches(hits, rows, numbers, evaluation):
        _add(made, here, rows[here], numbers[here], evaluation, mine, theirs, run)
    return made


def same_figures(tokens: tuple[Hashes, Marks], others: tuple[Hashes, Marks], run: int) -> bool:
    """Whether numbers and operators outside the shared runs of two texts agree, as far as both extend."""
    mine, theirs = (grams(one[0], np.array([0, len(one[0])]), run, whole=False)[0] for one in (tokens, others))
    figures = [_beside(one, np.isin(a, b), run) for one, a, b in ((tokens, mine, theirs), (others, theirs, mine))]
    (head, between, tail), (their_head, their_between, their_tail) = figures
    before, after = min(len(head), len(their_head)), min(len(tail), len(their_tail))
    pairs = (
        (head[len(head) - before :], their_head[len(their_head) - before :]),
        (between, their_between),
        (tail[:after], their_tail[:after]),
    )
    return all(np.array_equal(np.sort(one[one != 0]), np.sort(other[other != 0])) for one, other in pairs)


def _beside(tokens: tuple[Hashes, Marks], begins: Marks, run: int) -> tuple[Hashes, Hashes, Hashes]:
    """Tokens before, between and after the shared runs; 0 for tokens that are no figures or belong to such a run."""
    hashes, is_figure = tokens
    places = np.flatnonzero(begins)
    covered = np.zeros(len(hashes) + 1, np.int64)
    np.add.at(covered, places, 1)
    np.add.at(covered, places + run, -1)
    inside = np.cumsum(covered[:-1]) > 0
    figures = np.where(is_figure & ~inside, hashes, np.uint64(0))
    first, last = int(places[0]), int(places[-1]) + run
    return figures[:first], figures[first:last], figures[last:]


def _different(found: Hashes, rows: Places, count: int) -> Places:
    """Number of distinct runs per row."""
    order = np.lexsort((found, rows))
    found, rows = found[order], rows[order]
    new = np.ones(len(found), bool)
    new[1:] = (found[1:] != found[:-1]) | (rows[1:] != rows[:-1])
    return np.bincount(rows[new], minlength=count)


def _stretches(hits: Places, rows: Places, numbers: Places, evaluation: EvaluationRows) -> Iterator[Places]:
    """Indices of hits in batches of about ``_AT_ONCE`` pairs. Hits of one row stay together."""
    sizes = (evaluation.last() - evaluation.first[:-1])[numbers[hits]]
    ends = np.cumsum(sizes)
    edges = np.flatnonzero(np.diff(rows[hits], append=-1)) + 1
    start = 0
    while start < len(hits):
        done = ends[start - 1] if start else 0
        full = int(np.searchsorted(ends, done + _AT_ONCE, side="right"))
        end = int(
            edges[max(np.searchsorted(edges, full, side="right") - 1, np.searchsorted(edges, start, side="right"))]
        )
        yield hits[start:end]
        start = end


def _add(
    made: Shared,
    places: Places,
    rows: Places,
    numbers: Places,
    evaluation: EvaluationRows,
    mine: Places,
    theirs: Places,
    run: int,
) -> None:
    first, last = evaluation.first[:-1][numbers], evaluation.last()[numbers]
    sizes = last - first
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    hit = rows_of(offsets)
    others = evaluation.owners[first[hit] + np.arange(len(hit)) - offsets[:-1][hit]]
    order = np.lexsort((numbers[hit], others, rows[hit]))
    keys = np.stack((rows[hit][order], others[order], numbers[hit][order]))
    new = np.ones(keys.shape[1], bool)
    new[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    pairs = keys[:2, new]
    begins = np.ones(pairs.shape[1], bool)
    begins[1:] = (pairs[:, 1:] != pairs[:, :-1]).any(axis=0)
    at = np.flatnonzero(begins)
    counts = np.diff(at, append=pairs.shape[1])
    row, other = pairs[:, at]
    share = counts / np.maximum(np.minimum(mine[row], theirs[other]), 1)
    best = np.lexsort((other, -counts, -share, row))
    best = best[np.unique(row[best], return_index=True)[1]]
    made.other[row[best]], made.share[row[best]] = other[best], share[best]
    mutual = others == made.other[rows[hit]]
    _note_longest(made.longest, places[hit[mutual]], rows[hit[mutual]], run)


def _note_longest(longest: Places, places: Places, rows: Places, run: int) -> None:
    if not len(places):
        return
    breaks = np.ones(len(places), bool)
    breaks[1:] = (places[1:] != places[:-1] + 1) | (rows[1:] != rows[:-1])
    starts = np.flatnonzero(breaks)
    np.maximum.at(longest, rows[starts], np.diff(starts, append=len(places)) + run - 1)
