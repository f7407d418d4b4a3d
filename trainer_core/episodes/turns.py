"""Turns of an episode: who wrote which tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

Author = Literal["policy", "tool", "user", "system"]


@dataclass(frozen=True, slots=True)
class Turn:
    """Tokens of one author: from ``start`` to the start of the next turn, or to the end."""

    author: Author
    start: int
    """Index of its first token after the prompt."""
    characters: int = 0
    """Length of its text; 0 until it is decoded."""


def begun(turns: Sequence[Turn], length: int) -> tuple[Turn, ...]:
    """Turns that have at least one of the first ``length`` tokens."""
    return tuple(turn for turn in turns if turn.start < length)


def spans(turns: Sequence[Turn], length: int) -> list[tuple[Author, int, int]]:
    """(author, start, stop) of each turn of ``length`` tokens. Without turns, the policy wrote all of them."""
    if not turns:
        return [("policy", 0, length)] if length else []
    known = begun(turns, length)
    edges = pairwise([*(turn.start for turn in known), length])
    return [(turn.author, start, stop) for turn, (start, stop) in zip(known, edges, strict=True)]
