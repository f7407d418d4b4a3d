"""Rows that match a row of an evaluation set in any way, stored on disk slice by slice so that work can be resumed."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dressage.lab.arguments import FindContamination
from dressage.lab.contamination.evaluation import EvaluationRows, joined
from dressage.lab.contamination.near import NearRows
from dressage.lab.texts import Texts, read_texts
from dressage.lab.tokens import Hashes, Marks, Places, TextTokens, Tokenizer, grams

_SLICES_AT_ONCE = 16
"""Number of slices of rows per file."""


@dataclass(frozen=True, slots=True)
class Meetings:
    """Rows of one file that share a run with an evaluation set, or are equal or near to one of its rows."""

    numbers: Places
    """Numbers of the rows: of shape [rows]."""
    digests: Hashes
    """Digests of their normal forms: of shape [rows]."""
    equal: Places
    """The equal row of the evaluation sets, or -1: of shape [rows]."""
    near: Places
    """The nearest row of the evaluation sets, or -1: of shape [rows]."""
    likeness: np.ndarray
    """Jaccard similarity to that row: of shape [rows]."""
    hashes: Hashes
    """Tokens: of shape [tokens]."""
    is_figure: Marks
    """Whether each token is a number or an operator: of shape [tokens]."""
    offsets: Places
    """First token of each row, followed by the end of the last: of shape [rows + 1]."""
    end: Places
    """Number of the row after the last one examined: of shape [1]."""


def keep_meetings(
    path: Path, folder: Path, evaluation: EvaluationRows, operation: FindContamination, told: Callable[[int], None]
) -> list[Path]:
    """Examine all rows of a version, continuing after those of an earlier process.

    Args:
        path: the version's file.
        folder: where files are stored.
        evaluation: the rows of the evaluation sets.
        operation: how rows are compared.
        told: called with the number of rows done.

    Returns:
        Files of ``Meetings``, in the order of the rows.
    """
    files, start = list[Path](), 0
    while (kept := folder / f"meetings-{start}.npz").exists():
        files.append(kept)
        start = int(load(kept).end[0])
    told(start)
    near = _near(evaluation, operation)
    tokenizer, waiting = Tokenizer(), list[Texts]()
    for texts in read_texts(path, operation.columns, after=start):
        waiting.append(texts)
        if len(waiting) == _SLICES_AT_ONCE:
            files.append(_keep(folder, [_of(one, evaluation, near, operation, tokenizer) for one in waiting], waiting))
            told(waiting[-1].start + len(waiting[-1]))
            waiting = []
    if waiting:
        files.append(_keep(folder, [_of(one, evaluation, near, operation, tokenizer) for one in waiting], waiting))
        told(waiting[-1].start + len(waiting[-1]))
    return files


def load(path: Path) -> Meetings:
    """Meetings of one file of ``keep_meetings``."""
    with np.load(path) as stored:
        return Meetings(*(stored[name] for name in Meetings.__slots__))


def counted(files: list[Path], evaluation: EvaluationRows, run: int) -> Places:
    """Number of distinct rows that contain each run. Of shape [runs]. Memory: 8 bytes per stored row."""
    counts = np.zeros(len(evaluation.runs), np.int64)
    seen = np.zeros(0, np.uint64)
    for meetings in _loaded(files):
        digests, first = np.unique(meetings.digests, return_index=True)
        new = np.zeros(len(meetings.digests), bool)
        new[first[~np.isin(digests, seen)]] = True
        seen = np.union1d(seen, digests)
        found, rows = grams(meetings.hashes, meetings.offsets, run, whole=False)
        numbers = evaluation.run_of(found)
        known = (numbers >= 0) & new[rows]
        pairs = np.unique(numbers[known] * np.int64(len(new)) + rows[known])
        counts += np.bincount(pairs // max(len(new), 1), minlength=len(counts))
    return counts


def _loaded(files: list[Path]) -> Iterator[Meetings]:
    for file in files:
        yield load(file)


def _near(evaluation: EvaluationRows, operation: FindContamination) -> NearRows | None:
    if operation.near == 1:
        return None
    return NearRows(evaluation.tokens, operation.near, same_figures=operation.same_figures)


def _keep(folder: Path, parts: list[Meetings], waiting: list[Texts]) -> Path:
    path = folder / f"meetings-{waiting[0].start}.npz"
    temporary = path.with_suffix(".tmp")
    tokens = joined([TextTokens(one.hashes, one.offsets, one.digests, one.digests, one.is_figure) for one in parts])
    made = Meetings(
        numbers=np.concatenate([one.numbers for one in parts]),
        digests=tokens.digests,
        equal=np.concatenate([one.equal for one in parts]),
        near=np.concatenate([one.near for one in parts]),
        likeness=np.concatenate([one.likeness for one in parts]),
        hashes=tokens.hashes,
        is_figure=tokens.is_figure,
        offsets=tokens.offsets,
        end=parts[-1].end,
    )
    with temporary.open("wb") as file:
        np.savez(file, **{name: getattr(made, name) for name in Meetings.__slots__})
    os.replace(temporary, path)
    return path


def _of(
    texts: Texts, evaluation: EvaluationRows, near: NearRows | None, operation: FindContamination, tokenizer: Tokenizer
) -> Meetings:
    tokens = tokenizer.of(texts.texts)
    found, rows = grams(tokens.hashes, tokens.offsets, operation.run, whole=False)
    meets = np.zeros(len(texts), bool)
    meets[rows[evaluation.run_of(found) >= 0]] = True
    equal = _equal(tokens.digests, evaluation.tokens.digests)
    nothing = np.full(len(texts), -1, np.int64), np.zeros(len(texts))
    others, likeness = near.of(tokens) if near else nothing
    kept = np.flatnonzero(meets | (equal >= 0) | (others >= 0))
    sizes = np.diff(tokens.offsets)
    inside = np.repeat(np.isin(np.arange(len(texts)), kept), sizes)
    return Meetings(
        numbers=kept + texts.start,
        digests=tokens.digests[kept],
        equal=equal[kept],
        near=others[kept],
        likeness=likeness[kept],
        hashes=tokens.hashes[inside],
        is_figure=tokens.is_figure[inside],
        offsets=np.concatenate(([0], np.cumsum(sizes[kept]))).astype(np.int64),
        end=np.array([texts.start + len(texts)], np.int64),
    )


def _equal(digests: Hashes, known: Hashes) -> Places:
    """Index of the first known text that is equal, or -1."""
    order = np.argsort(known, kind="stable")
    places = np.searchsorted(known[order], digests)
    found = order[np.minimum(places, len(known) - 1)]
    return np.where((known[found] == digests) & (digests != 0), found, -1)
