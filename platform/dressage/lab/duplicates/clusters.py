"""Clusters of rows: equal rows, and near rows connected by verified pairs."""

from collections.abc import Callable, Iterator

import numpy as np

from dressage.lab.duplicates.fingerprints import Fingerprints
from dressage.lab.tokens import Hashes, Places, mixed

_ALL_PAIRS = 8
"""Size of a bucket up to which all pairs are compared. In larger buckets, leaders are compared with all others."""
_LEADERS = 16
"""Number of leaders per bucket. A row that is similar to none of them may still match in another band's bucket."""


class UnionFind:
    """Disjoint sets that can be merged."""

    def __init__(self, size: int) -> None:
        self._above = list(range(size))

    def find(self, member: int) -> int:
        """The smallest member of the set that contains ``member``."""
        above = self._above
        while above[member] != member:
            above[member] = above[above[member]]
            member = above[member]
        return member

    def join(self, one: int, other: int) -> None:
        """Merge two sets."""
        one, other = sorted((self.find(one), self.find(other)))
        self._above[other] = one

    def roots(self) -> Places:
        """The smallest member of the set of each element."""
        return np.array([self.find(member) for member in range(len(self._above))], np.int64)


def equal_rows(digests: Hashes) -> Places:
    """First row with the same normal form for each row. Rows without text match no other row. Of shape [rows]."""
    _, first, inverse = np.unique(digests, return_index=True, return_inverse=True)
    found = first[inverse].astype(np.int64)
    blank = digests == 0
    found[blank] = np.flatnonzero(blank)
    return found


def join_near(
    prints: Fingerprints,
    first: Places,
    threshold: float,
    *,
    same_figures: bool,
    told: Callable[[int, int], None],
) -> tuple[Places, dict[int, float]]:
    """Merge similar rows. Each pair is verified. Of pairs at the threshold, about one in 200 is missed.

    Args:
        prints: fingerprints of all rows.
        first: the first equal row of each row.
        threshold: minimum Jaccard similarity of a pair.
        same_figures: whether numbers and operators must be the same.
        told: called with the index of the band and the number of bands.

    Returns:
        The first row of the cluster of each row, of shape [rows]; and the minimum similarity of a verified pair, by the
        row that was merged by it.
    """
    sets = UnionFind(prints.rows)
    similarity: dict[int, float] = {}
    singles = np.flatnonzero((first == np.arange(prints.rows)) & (prints.digests != 0))
    bands = prints.bands.shape[1]
    for band in range(bands):
        told(band, bands)
        keys = prints.bands[singles, band]
        if same_figures:
            keys = mixed(keys ^ prints.figures[singles])
        for bucket in _buckets(keys, singles):
            _join_bucket(prints, bucket, threshold, same_figures, sets, similarity)
    for row in np.flatnonzero(first != np.arange(prints.rows)).tolist():
        sets.join(row, int(first[row]))
    return sets.roots(), similarity


def _buckets(keys: Hashes, rows: Places) -> Iterator[list[int]]:
    """Rows with equal keys, at least two per bucket, each bucket in row order."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    edges = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    starts, ends = np.concatenate(([0], edges)), np.concatenate((edges, [len(keys)]))
    for place in np.flatnonzero(ends - starts > 1).tolist():
        yield rows[order[starts[place] : ends[place]]].tolist()


def _join_bucket(
    prints: Fingerprints,
    bucket: list[int],
    threshold: float,
    same_figures: bool,
    sets: UnionFind,
    similarity: dict[int, float],
) -> None:
    if len(bucket) <= _ALL_PAIRS:
        for place, leader in enumerate(bucket):
            _compare(prints, leader, bucket[place + 1 :], threshold, same_figures, sets, similarity)
        return
    waiting = bucket
    for _ in range(_LEADERS):
        waiting = _compare(prints, waiting[0], waiting[1:], threshold, same_figures, sets, similarity)
        if len(waiting) < 2:
            return


def _compare(
    prints: Fingerprints,
    leader: int,
    others: list[int],
    threshold: float,
    same_figures: bool,
    sets: UnionFind,
    similarity: dict[int, float],
) -> list[int]:
    """Merge the rows that are similar to the leader. Returns the others."""
    shingles, figures, left = prints.of_row(leader), prints.figures[leader], []
    for other in others:
        if sets.find(leader) == sets.find(other):
            continue
        alike = jaccard(shingles, prints.of_row(other), threshold)
        if alike < threshold or (same_figures and prints.figures[other] != figures):
            left.append(other)
            continue
        sets.join(leader, other)
        similarity[other] = min(alike, similarity.get(other, 1.0))
    return left


def jaccard(one: Hashes, other: Hashes, least: float) -> float:
    """Jaccard similarity of two sorted sets; 0 if their sizes alone imply that it is below ``least``."""
    small, large = sorted((len(one), len(other)))
    if not small or small < least * large:
        return 0.0
    both = np.concatenate((one, other))
    both.sort()
    common = int(np.count_nonzero(both[1:] == both[:-1]))
    return common / (small + large - common)
