"""Near rows: rows that share so many three-word runs with a row of an evaluation set that they say the same."""

import numpy as np

from dressage.lab.duplicates.bands import band_keys
from dressage.lab.duplicates.clusters import jaccard
from dressage.lab.tokens import Hashes, Places, TextTokens, grams, mixed

_SHINGLE = 3
_SAME_KEY = 16
"""Maximum number of evaluation rows with the same band to compare; the first ones are used."""


class NearRows:
    """Finds the row of an evaluation set that is most similar to a text."""

    def __init__(self, tokens: TextTokens, threshold: float, *, same_figures: bool) -> None:
        """
        Args:
            tokens: tokens of the rows of the evaluation sets.
            threshold: minimum Jaccard similarity, below 1.
            same_figures: whether numbers and operators must be the same.
        """
        self._threshold, self._same_figures = threshold, same_figures
        self._figures = tokens.figures
        self._shingles, self._offsets = shingles_of(tokens)
        self._known = np.unique(self._shingles)
        keys = self._keys(self._shingles, self._offsets, tokens.figures)
        self._order = np.argsort(keys, axis=0, kind="stable")
        self._sorted = np.take_along_axis(keys, self._order, axis=0)

    def of(self, tokens: TextTokens) -> tuple[Places, np.ndarray]:
        """(row of the evaluation sets or -1, similarity) for each text."""
        count = len(tokens.digests)
        rows, likeness = np.full(count, -1, np.int64), np.zeros(count)
        shingles, offsets = shingles_of(tokens)
        candidates = self._candidates(shingles, offsets)
        if not len(candidates):
            return rows, likeness
        parts = [shingles[offsets[row] : offsets[row + 1]] for row in candidates.tolist()]
        ends = np.cumsum([0, *(len(part) for part in parts)]).astype(np.int64)
        keys = self._keys(np.concatenate(parts), ends, tokens.figures[candidates])
        for place, (row, part) in enumerate(zip(candidates.tolist(), parts, strict=True)):
            rows[row], likeness[row] = self._best(keys[place], part, tokens.figures[row])
        return rows, likeness

    def _keys(self, shingles: Hashes, offsets: Places, figures: Hashes) -> Hashes:
        keys = band_keys(shingles, offsets, self._threshold)
        return mixed(keys ^ figures[:, None]) if self._same_figures else keys

    def _candidates(self, shingles: Hashes, offsets: Places) -> Places:
        """Indices of texts that share enough shingles with the evaluation sets that they may be similar to a row."""
        if not len(self._known):
            return np.zeros(0, np.int64)
        places = np.minimum(np.searchsorted(self._known, shingles), len(self._known) - 1)
        running = np.concatenate(([0], np.cumsum(self._known[places] == shingles)))
        shared, sizes = running[offsets[1:]] - running[offsets[:-1]], np.diff(offsets)
        return np.flatnonzero((sizes > 0) & (shared >= self._threshold * sizes))

    def _best(self, keys: Hashes, shingles: Hashes, figures: np.uint64) -> tuple[int, float]:
        others = set[int]()
        for band, key in enumerate(keys):
            first = int(np.searchsorted(self._sorted[:, band], key))
            same = self._sorted[first : first + _SAME_KEY, band] == key
            others.update(self._order[first : first + _SAME_KEY, band][same].tolist())
        best, most = -1, 0.0
        for other in sorted(others):
            if self._same_figures and self._figures[other] != figures:
                continue
            theirs = self._shingles[self._offsets[other] : self._offsets[other + 1]]
            alike = jaccard(shingles, theirs, self._threshold)
            if alike >= self._threshold and alike > most:
                best, most = other, alike
        return best, most


def shingles_of(tokens: TextTokens) -> tuple[Hashes, Places]:
    """(distinct shingles of each text, sorted; index of the first of each text, followed by the end of the last)."""
    found, rows = grams(tokens.hashes, tokens.offsets, _SHINGLE, whole=True)
    order = np.lexsort((found, rows))
    found, rows = found[order], rows[order]
    first = np.ones(len(found), bool)
    first[1:] = (found[1:] != found[:-1]) | (rows[1:] != rows[:-1])
    counts = np.bincount(rows[first], minlength=len(tokens.digests))
    return found[first], np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
