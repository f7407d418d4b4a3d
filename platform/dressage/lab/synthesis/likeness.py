"""Likeness of variations: to their source, to one another, and to all rows of the version, as duplicates are found."""

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
    """The place, from 1 on, of the first of some texts that equals a text or is near it; 0 where none is."""
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
    """Places of texts that equal an earlier one, are near it, or are joined with it by a chain of near ones.

    As among duplicates, near ones have the same numbers and operators: with others, a question is another.
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
    """Places of texts that equal a row of a version or are near it with the same numbers, with the number of the row.

    The rows are read slice by slice: memory holds those of the texts alone.
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
            tokens = tokenizer.of([texts[one] for one in left])  # a row tells only the one that it is most like
            if left:
                near = NearRows(tokens, threshold, same_figures=True)
        if not left:
            break
    return found
