"""Words and symbols of texts, in a form that ignores case, spaces and sentence punctuation.

Numbers, operators and brackets stay: ``x + 5`` and ``x - 5`` are different questions.
"""

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Hashes = np.ndarray[Any, np.dtype[np.uint64]]
Places = np.ndarray[Any, np.dtype[np.int64]]
Marks = np.ndarray[Any, np.dtype[np.bool_]]
_QUOTES = r'["“”„«»「」『』]'
_STOPS = r"[.,;:?]+(\s|$)|[。，、？；：]"
_APART = r"([\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]|[^\p{L}\p{M}\p{N}_\s])"
"""Characters that are separate tokens: those of scripts without spaces, and everything that is no letter, number or
space."""
_OPERATORS = frozenset("+*/=<>^%×÷·≤≥≠±√")
_NUMBER_WORDS = frozenset((
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty", "thirty", "forty",
    "fifty", "sixty", "seventy", "eighty", "ninety", "hundred", "thousand", "million", "half", "third", "quarter",
    "twice", "thrice", "double", "triple",
))  # fmt: skip
_ODD = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93)


@dataclass(frozen=True, slots=True)
class TextTokens:
    """Tokens of several texts, concatenated."""

    hashes: Hashes
    """Hashes of shape [tokens]."""
    offsets: Places
    """First token of each text, followed by the end of the last: of shape [texts + 1]."""
    digests: Hashes
    """Digests of whole texts in their normal form. Equal texts have equal digests, blank texts 0. Of shape [texts]."""
    figures: Hashes
    """Order-independent hashes of the numbers and operators of each text. Of shape [texts]."""
    is_figure: Marks
    """Whether each token is a number or an operator. Of shape [tokens]."""


class Tokenizer:
    """Splits texts into tokens, and caches the hashes of words."""

    _MOST = 500_000

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, bool]] = {}

    def of(self, texts: list[str]) -> TextTokens:
        """The tokens of texts."""
        joined, lists = _split(texts)
        offsets = np.concatenate(([0], np.cumsum(pc.list_value_length(lists).to_numpy(zero_copy_only=False))))
        flat = lists.flatten().dictionary_encode()
        known = [self._hash(word) for word in flat.dictionary.to_pylist()]
        codes = flat.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        values = np.array([value for value, _ in known], np.uint64)[codes] if known else np.zeros(0, np.uint64)
        is_figure = np.array([figure for _, figure in known], bool)[codes] if known else np.zeros(0, bool)
        figures = sums_of(np.where(is_figure, mixed(values), np.uint64(0)), offsets)
        return TextTokens(values, offsets, _digests(joined), figures, is_figure)

    def _hash(self, word: str) -> tuple[int, bool]:
        found = self._known.get(word)
        if found is None:
            if len(self._known) >= self._MOST:
                self._known.clear()
            found = digest(word), _is_figure(word)
            self._known[word] = found
        return found


def digest(text: str) -> int:
    """A 64-bit hash that is the same in every process."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def mixed(values: Hashes) -> Hashes:
    """The values with their bits mixed (the finaliser of SplitMix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def sums_of(values: Hashes, offsets: Places) -> Hashes:
    """The sum of each segment, modulo 2^64; 0 for empty segments."""
    running = np.concatenate((np.zeros(1, np.uint64), np.cumsum(values, dtype=np.uint64)))
    return running[offsets[1:]] - running[offsets[:-1]]


def rows_of(offsets: Places) -> Places:
    """Index of the segment that each position belongs to."""
    return np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))


def grams(hashes: Hashes, offsets: Places, size: int, *, whole: bool) -> tuple[Hashes, Places]:
    """Hashes of all runs of ``size`` tokens of each text, and for each run the index of its text.

    Args:
        hashes: hashes of the tokens.
        offsets: first token of each text, followed by the end of the last.
        size: tokens per run.
        whole: whether a text with fewer tokens counts as one run. An empty text never does.
    """
    rows = rows_of(offsets)
    places, ends = np.arange(len(hashes), dtype=np.int64), offsets[1:][rows]
    begins = places + size <= ends
    if whole:
        begins |= places == offsets[:-1][rows]
    places, ends, rows = places[begins], ends[begins], rows[begins]
    found = np.zeros(len(places), np.uint64)
    for step in range(size):
        here = places + step
        inside = here < ends
        values = np.where(inside, hashes[np.minimum(here, len(hashes) - 1)], np.uint64(0))
        factor = np.uint64((_ODD[step % 4] + 2 * step * _ODD[0]) % 2**64)
        found += mixed(values ^ factor) * factor
    return mixed(found), rows


def _split(texts: list[str]) -> tuple[pa.Array, pa.ListArray]:
    """(texts in their normal form, their tokens)."""
    text = pc.utf8_lower(pc.utf8_normalize(pa.array(texts, pa.string()), form="NFC"))
    text = pc.replace_substring_regex(text, "[‘’`´]", "'")
    text = pc.replace_substring_regex(text, _QUOTES, " ")
    text = pc.replace_substring_regex(text, _STOPS, " ")
    text = pc.replace_substring_regex(text, _APART, r" \1 ")
    text = pc.utf8_trim_whitespace(pc.replace_substring_regex(text, r"\s+", " "))
    lists = pc.split_pattern(text, " ")
    # A blank text has no tokens, but splitting it yields an empty one.
    return text, pc.if_else(pc.equal(text, ""), pa.scalar([], lists.type), lists)


def _digests(texts: pa.Array) -> Hashes:
    """Digests of texts in their normal form; 0 for blank ones."""
    return np.array([digest(text) if text else 0 for text in texts.to_pylist()], np.uint64)


def _is_figure(word: str) -> bool:
    return word in _OPERATORS or word in _NUMBER_WORDS or any(sign.isnumeric() for sign in word)
