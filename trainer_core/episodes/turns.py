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


def spans(turns: Sequence[Turn], length: int) -> list[tuple[Author, int, int]]:
    """(author, start, stop) of each turn of ``length`` tokens. Without turns, the policy wrote all of them."""
    if not turns:
        return [("policy", 0, length)] if length else []
    starts = [min(turn.start, length) for turn in turns]
    edges = pairwise([*starts, length])
    return [(turn.author, start, stop) for turn, (start, stop) in zip(turns, edges, strict=True) if stop > start]
