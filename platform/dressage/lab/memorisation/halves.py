"""Prompts cut in two, and what a model writes in the place of the second part held against it."""

import unicodedata
from itertools import islice
from typing import NamedTuple

import regex  # type: ignore[import-untyped]

from trainer_core.rewards.graders.similarity import rouge_l

_SPACELESS = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_PIECES = regex.compile(rf"\s*(?:[{_SPACELESS}]|[^\s{_SPACELESS}]+)")
_WORDS = regex.compile(rf"[{_SPACELESS}]|[^\W_{_SPACELESS}]+|[^\w\s.,;:!?'\"’‘“”…、。，！？]")


class CutPrompt(NamedTuple):
    """A prompt in two parts."""

    shown: str
    rest: str
    words: int
    """Number of words of the rest."""


class Likeness(NamedTuple):
    """What came in the place of a rest."""

    completed: bool
    """Whether it is the rest, word for word."""
    overlap: float
    """ROUGE-L, as F1, of the rest and as many words of what came (Lin 2004)."""
    longest: int
    """Words that are the same from the cut on."""


def cut(text: str, shown: float) -> CutPrompt:
    """A prompt, cut behind a share of its words."""
    pieces = _PIECES.findall(text)
    place = round(len(pieces) * shown)
    rest = "".join(pieces[place:])
    return CutPrompt("".join(pieces[:place]), rest, len(words_of(rest)))


def words_of(text: str) -> list[str]:
    """The words that are compared: case and the punctuation of sentences count for nothing, operators do."""
    return [one.group().casefold() for one in _WORDS.finditer(_composed(text))]


def behind(continuation: str, words: int) -> str:
    """The part of a continuation that comes behind so many words."""
    text = _composed(continuation)
    ends = [one.end() for one in islice(_WORDS.finditer(text), words)]
    return text[ends[-1] :] if ends else text


def _composed(text: str) -> str:
    """The text with letters and their accents in one sign, as all comparisons of the lab have it."""
    return unicodedata.normalize("NFC", text)


def likeness(rest: str, continuation: str) -> Likeness:
    """Hold a continuation against the rest; what comes behind as many words is an answer, and left out."""
    expected = words_of(rest)
    said = words_of(continuation)[: len(expected)]
    longest = next((n for n, pair in enumerate(zip(expected, said, strict=False)) if pair[0] != pair[1]), len(said))
    if not expected:
        return Likeness(False, 0.0, 0)
    return Likeness(said == expected, rouge_l(said, expected), longest)
