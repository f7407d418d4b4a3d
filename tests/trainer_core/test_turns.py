"""Turns as spans of tokens."""

import pytest

from trainer_core.episodes import Turn, spans

TALK = (Turn("policy", 0), Turn("tool", 4), Turn("policy", 7))


@pytest.mark.parametrize(
    ("turns", "length", "expected"),
    [
        ((), 0, []),
        ((), 3, [("policy", 0, 3)]),
        (TALK, 9, [("policy", 0, 4), ("tool", 4, 7), ("policy", 7, 9)]),
        (TALK, 7, [("policy", 0, 4), ("tool", 4, 7)]),
        (TALK, 5, [("policy", 0, 4), ("tool", 4, 5)]),
        (TALK, 2, [("policy", 0, 2)]),
    ],
)
def test_spans_cover_the_tokens(turns: tuple[Turn, ...], length: int, expected: list[tuple[str, int, int]]) -> None:
    assert spans(turns, length) == expected
