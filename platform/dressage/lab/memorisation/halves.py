"""Prompts cut in two, and the comparison of a model's continuation with the second part."""

import unicodedata
from itertools import islice
from typing import NamedTuple

import regex  # type: ignore[import-untyped]

from trainer_core.rewards.graders.text.similarity import rouge_l

_SPACELESS = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_PIECES = regex.compile(rf"\s*(?:[{_SPACELESS}]|[^\s{_SPACELESS}]+)")
_WORDS = regex.compile(rf"[{_SPACELESS}]|[^\W_{_SPACELESS}]+|[^\w\s.,;:!?'\"’‘“”…、。，！？]")


class CutPrompt(NamedTuple):
    """A prompt cut into two parts."""

    shown: str
    rest: str
    words: int
    """Number of words in the rest."""


class Likeness(NamedTuple):
    """Comparison of a continuation with the rest."""

    completed: bool
    """Whether the continuation is the rest, word for word."""
    overlap: float
    """ROUGE-L, as F1, of the rest and the same number of words of the continuation (Lin 2004)."""
    longest: int
    """Number of consecutive equal words after the cut."""


def cut(text: str, shown: float) -> CutPrompt:
    """Cut a prompt after a share of its words."""
    pieces = _PIECES.findall(text)
    place = round(len(pieces) * shown)
    rest = "".join(pieces[place:])
    return CutPrompt("".join(pieces[:place]), rest, len(words_of(rest)))


def words_of(text: str) -> list[str]:
    """The words to compare. Case and sentence punctuation are ignored, operators are not."""
    return [one.group().casefold() for one in _WORDS.finditer(_composed(text))]


def behind(continuation: str, words: int) -> str:
    """The part of a continuation that follows its first ``words`` words."""
    text = _composed(continuation)
    ends = [one.end() for one in islice(_WORDS.finditer(text), words)]
    return text[ends[-1] :] if ends else text


def _composed(text: str) -> str:
    """The text with accents composed into letters, as in all comparisons of the lab."""
    return unicodedata.normalize("NFC", text)


def likeness(rest: str, continuation: str) -> Likeness:
    """Compare a continuation with the rest. Anything beyond the length of the rest is an answer and is ignored."""
    expected = words_of(rest)
    said = words_of(continuation)[: len(expected)]
    longest = next((n for n, pair in enumerate(zip(expected, said, strict=False)) if pair[0] != pair[1]), len(said))
    if not expected:
        return Likeness(False, 0.0, 0)
    return Likeness(said == expected, rouge_l(said, expected), longest)
