"""Similarity of variations to their source, to each other, and to all rows of the version, as for duplicates."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dressage.lab.contamination.near import NearRows, shingles_of
from dressage.lab.duplicates.bands import band_keys
from dressage.lab.duplicates.clusters import equal_rows, jaccard, join_near
from dressage.lab.duplicates.fingerprints import Fingerprints
from dressage.lab.texts import read_texts
from dressage.lab.tokens import Tokenizer


def near_one(text: str, others: Sequence[str], threshold: float) -> int:
    """Position, from 1, of the first text that equals a text or is near it; 0 if there is none."""
    tokens = Tokenizer().of([text, *others])
    shingles, offsets = shingles_of(tokens)
    own = shingles[: offsets[1]]
    for place in range(1, len(others) + 1):
        if tokens.digests[place] == tokens.digests[0]:
            return place
        if jaccard(own, shingles[offsets[place] : offsets[place + 1]], threshold) >= threshold:
            return place
    return 0


def alike_among(texts: Sequence[str], threshold: float) -> set[int]:
    """Indices of texts that equal or are near an earlier one, directly or by a chain of near texts.

    As for duplicates, near texts must have the same numbers and operators: with other numbers a question is a different
    one.
    """
    if not texts:
        return set()
    tokens = Tokenizer().of(list(texts))
    shingles, offsets = shingles_of(tokens)
    prints = Fingerprints(
        digests=tokens.digests,
        figures=tokens.figures,
        answers=np.zeros(len(texts), np.uint64),
        shingles=shingles,
        offsets=offsets,
        bands=band_keys(shingles, offsets, threshold),
    )
    first = equal_rows(prints.digests)
    roots, _ = join_near(prints, first, threshold, same_figures=True, told=lambda done, of: None)
    return set(np.flatnonzero(roots != np.arange(len(texts))).tolist())


def alike_in_version(path: Path, texts: Sequence[str], threshold: float) -> dict[int, int]:
    """Texts that equal a row of a version, or are near one with the same numbers: the row number by index of the text.

    The rows are read slice by slice, so memory contains only the data of the texts.
    """
    found: dict[int, int] = {}
    if not texts:
        return found
    left = list(range(len(texts)))
    tokenizer = Tokenizer()
    tokens = tokenizer.of(list(texts))
    near = NearRows(tokens, threshold, same_figures=True)
    for slice_ in read_texts(path):
        here = tokenizer.of(slice_.texts)
        while left:
            rows, _ = near.of(here)
            hits = {int(place): row for row, place in enumerate(rows.tolist()) if place >= 0}
            for row in np.flatnonzero(np.isin(here.digests, tokens.digests[tokens.digests != 0])).tolist():
                hits.update({int(place): row for place in np.flatnonzero(tokens.digests == here.digests[row])})
            if not hits:
                break
            found.update({left[place]: slice_.start + row for place, row in hits.items()})
            left = [one for place, one in enumerate(left) if place not in hits]
            tokens = tokenizer.of([texts[one] for one in left])  # a row reports only its most similar text
            if left:
                near = NearRows(tokens, threshold, same_figures=True)
        if not left:
            break
    return found
