"""Fingerprints of rows, stored on disk slice by slice, so that work continues after a killed worker."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dressage.lab.arguments import FindDuplicates
from dressage.lab.duplicates.bands import band_keys
from dressage.lab.texts import Texts, read_texts
from dressage.lab.tokens import Hashes, Places, Tokenizer, digest, grams

_SLICES_AT_ONCE = 16
"""Number of slices of rows per file."""


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """Data by which rows are compared. Rows without any text have the digest 0 and no shingles."""

    digests: Hashes
    """Digests of the normal forms: of shape [rows]."""
    figures: Hashes
    """Hashes of numbers and operators: of shape [rows]."""
    answers: Hashes
    """Digests of the gold answers, 0 for none: of shape [rows]."""
    shingles: Hashes
    """Sorted, without repetition within a row: of shape [shingles]."""
    offsets: Places
    """First shingle of each row, followed by the end of the last: of shape [rows + 1]."""
    bands: Hashes
    """Keys of shape [rows, bands]."""

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.digests)

    def of_row(self, row: int) -> Hashes:
        """The shingles of a row."""
        return self.shingles[self.offsets[row] : self.offsets[row + 1]]


def fingerprints(
    paths: list[Path], folder: Path, operation: FindDuplicates, told: Callable[[int], None]
) -> Fingerprints:
    """Fingerprints of all rows of several files, concatenated.

    Args:
        paths: the versions' files.
        folder: where slices are stored.
        operation: how rows are compared.
        told: called with the number of rows done.
    """
    parts: list[Fingerprints] = []
    done = 0
    tokenizer = Tokenizer()
    for number, path in enumerate(paths):
        start = 0
        while (kept := folder / f"fingerprints-{number}-{start}.npz").exists():
            parts.append(_load(kept))
            start += parts[-1].rows
        told(done + start)
        waiting: list[Texts] = []
        for texts in read_texts(path, operation.columns, after=start):
            waiting.append(texts)
            if len(waiting) == _SLICES_AT_ONCE:
                parts.append(_keep(folder, number, waiting, operation, tokenizer))
                told(done + waiting[-1].start + len(waiting[-1]))
                waiting = []
        if waiting:
            parts.append(_keep(folder, number, waiting, operation, tokenizer))
        done = sum(part.rows for part in parts)
        told(done)
    return _joined(parts)


def _keep(
    folder: Path, number: int, waiting: list[Texts], operation: FindDuplicates, tokenizer: Tokenizer
) -> Fingerprints:
    made = _joined([_of(texts, operation, tokenizer) for texts in waiting])
    path = folder / f"fingerprints-{number}-{waiting[0].start}.npz"
    temporary = path.with_suffix(".tmp")
    with temporary.open("wb") as file:
        np.savez(file, **{name: getattr(made, name) for name in Fingerprints.__slots__})
    os.replace(temporary, path)
    return made


def _load(path: Path) -> Fingerprints:
    with np.load(path) as stored:
        return Fingerprints(*(stored[name] for name in Fingerprints.__slots__))


def _of(texts: Texts, operation: FindDuplicates, tokenizer: Tokenizer) -> Fingerprints:
    tokens = tokenizer.of(texts.texts)
    answers = np.array([digest(one.strip()) if one and one.strip() else 0 for one in texts.answers], np.uint64)
    if operation.threshold == 1:
        nothing = np.zeros(0, np.uint64)
        offsets = np.zeros(len(texts) + 1, np.int64)
        return Fingerprints(
            tokens.digests, tokens.figures, answers, nothing, offsets, np.zeros((len(texts), 0), np.uint64)
        )
    found, rows = grams(tokens.hashes, tokens.offsets, operation.shingle, whole=True)
    order = np.lexsort((found, rows))
    found, rows = found[order], rows[order]
    first = np.ones(len(found), bool)
    first[1:] = (found[1:] != found[:-1]) | (rows[1:] != rows[:-1])
    found, rows = found[first], rows[first]
    offsets = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=len(texts))))).astype(np.int64)
    bands = band_keys(found, offsets, operation.threshold)
    return Fingerprints(tokens.digests, tokens.figures, answers, found, offsets, bands)


def _joined(parts: list[Fingerprints]) -> Fingerprints:
    ends = np.cumsum([0, *(len(part.shingles) for part in parts)])
    return Fingerprints(
        digests=np.concatenate([part.digests for part in parts]),
        figures=np.concatenate([part.figures for part in parts]),
        answers=np.concatenate([part.answers for part in parts]),
        shingles=np.concatenate([part.shingles for part in parts]),
        offsets=np.concatenate([[0], *(part.offsets[1:] + end for part, end in zip(parts, ends, strict=False))]).astype(
            np.int64
        ),
        bands=np.concatenate([part.bands for part in parts]),
    )
