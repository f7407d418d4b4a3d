"""Rows of evaluation sets in memory: their tokens, and an index from runs of words to rows."""

from dataclasses import dataclass

import numpy as np

from dressage.lab.arguments import FindContamination
from dressage.lab.plan import StoredRows
from dressage.lab.texts import read_texts
from dressage.lab.tokens import Hashes, Marks, Places, TextTokens, Tokenizer, grams

LEAST_COMMON = 10
"""Number of rows that may contain a run before it can count as common."""
_HOLDERS = 16
"""Maximum number of evaluation rows examined per run; the first ones are used."""


@dataclass(frozen=True, slots=True)
class EvaluationRows:
    """Rows of several versions, concatenated."""

    tokens: TextTokens
    runs: Hashes
    """Distinct runs, sorted, without the common ones: of shape [runs]."""
    owners: Places
    """Rows that contain each run, concatenated over the runs: of shape [pairs]."""
    owned: Places
    """Run of each pair: of shape [pairs]."""
    first: Places
    """First pair of each run, followed by the end of the last: of shape [runs + 1]."""
    common: int
    """Number of runs that are common among the rows of a version."""

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.tokens.digests)

    def of_row(self, row: int) -> tuple[Hashes, Marks]:
        """The tokens of a row, and a mask of its figures."""
        here = slice(self.tokens.offsets[row], self.tokens.offsets[row + 1])
        return self.tokens.hashes[here], self.tokens.is_figure[here]

    def run_of(self, hashes: Hashes) -> Places:
        """Index of each run, -1 for one that no row contains. Same shape as ``hashes``."""
        if not len(self.runs):
            return np.full(len(hashes), -1, np.int64)
        places = np.minimum(np.searchsorted(self.runs, hashes), len(self.runs) - 1)
        return np.where(self.runs[places] == hashes, places, -1)

    def last(self) -> Places:
        """End of the examined pairs of each run. Of shape [runs]."""
        return np.minimum(self.first[1:], self.first[:-1] + _HOLDERS)

    def sizes(self, left_out: Marks) -> Places:
        """Number of distinct runs per row, except those in the mask ``left_out`` of shape [runs]. Of shape [rows]."""
        return np.bincount(self.owners[~left_out[self.owned]], minlength=self.rows)


def evaluation_rows(stored: list[StoredRows], operation: FindContamination) -> EvaluationRows:
    """The rows of evaluation sets. Memory: 16 bytes per word, 24 if it begins a run, 40 per row."""
    tokens, ends = _tokens(stored, operation)
    found, rows = grams(tokens.hashes, tokens.offsets, operation.run, whole=False)
    order = np.lexsort((rows, found))
    found, rows = found[order], rows[order]
    new = np.ones(len(found), bool)
    new[1:] = (found[1:] != found[:-1]) | (rows[1:] != rows[:-1])
    found, rows = found[new], rows[new]
    runs, numbers = np.unique(found, return_inverse=True)
    common = _common(tokens.digests, numbers, rows, len(runs), ends, operation.common)
    keep = ~common[numbers]
    renumbered = np.cumsum(~common) - 1
    owned, owners = renumbered[numbers[keep]].astype(np.int64), rows[keep]
    first = np.concatenate(([0], np.cumsum(np.bincount(owned, minlength=int((~common).sum()))))).astype(np.int64)
    return EvaluationRows(tokens, runs[~common], owners, owned, first, int(common.sum()))


def most_rows(rows: int, common: float) -> int:
    """Maximum number of rows, out of ``rows``, that may contain a run that is not common."""
    return max(LEAST_COMMON, int(rows * common))


def _tokens(stored: list[StoredRows], operation: FindContamination) -> tuple[TextTokens, list[int]]:
    """(tokens of all rows, end of each version's rows)."""
    tokenizer, parts, ends = Tokenizer(), list[TextTokens](), list[int]()
    rows = 0
    for one in stored:
        for texts in read_texts(one.path, operation.columns):
            parts.append(tokenizer.of(texts.texts))
            rows += len(texts)
        ends.append(rows)
    return joined(parts), ends


def joined(parts: list[TextTokens]) -> TextTokens:
    """Concatenate the texts of several parts."""
    starts = np.cumsum([0, *(len(part.hashes) for part in parts)])
    offsets = [part.offsets[1:] + start for part, start in zip(parts, starts, strict=False)]
    return TextTokens(
        hashes=np.concatenate([part.hashes for part in parts]),
        offsets=np.concatenate([[0], *offsets]).astype(np.int64),
        digests=np.concatenate([part.digests for part in parts]),
        figures=np.concatenate([part.figures for part in parts]),
        is_figure=np.concatenate([part.is_figure for part in parts]),
    )


def _common(digests: Hashes, numbers: Places, rows: Places, runs: int, ends: list[int], share: float) -> Marks:
    """Whether more distinct rows of one version contain a run than allowed. Of shape [runs]."""
    found, start = np.zeros(runs, bool), 0
    for end in ends:
        first = np.unique(digests[start:end], return_index=True)[1] + start
        different = np.zeros(len(digests), bool)
        different[first] = True
        counts = np.bincount(numbers[different[rows]], minlength=runs)
        found |= counts > most_rows(end - start, share)
        start = end
    return found
