"""Searches that were rewritten to take linear time find what the expressions found that they replace."""

import random
import re
from collections.abc import Callable

import pytest

from trainer_core.rewards.graders.text.instructions import follows
from trainer_core.rewards.graders.text.prose import _without_brackets

TEXTS = 20_000


def texts(signs: str, longest: int) -> list[str]:
    chance = random.Random(1)
    return ["".join(chance.choices(signs, k=chance.randrange(longest))) for _ in range(TEXTS)]


def test_formulas_in_brackets() -> None:
    expression = re.compile(r"\\\[.*?\\\]|\\\(.*?\\\)", re.DOTALL)
    for text in texts("\\\\\\[]()a\n", 25):
        assert _without_brackets(text) == expression.sub(" ", text), text


def _title(text: str) -> bool:
    return any(title.strip("<> ") for title in re.findall(r"<<[^\n]+>>", text))


def _two_bullets(text: str) -> bool:
    return len(re.findall(r"^\s*[*\-][^*\-\n]", text, re.MULTILINE)) == 2


@pytest.mark.parametrize(
    ("check", "given", "expression", "signs"),
    [
        ("detectable_format:title", {}, _title, "<<>>a \n"),
        ("detectable_format:number_bullet_lists", {"num_bullets": 2}, _two_bullets, "*-a \n\t\r\x0b"),
    ],
)
def test_checks_of_instructions(
    check: str, given: dict[str, int], expression: Callable[[str], bool], signs: str
) -> None:
    for text in texts(signs, 14):
        assert follows(check, text, given) == (bool(text.strip()) and expression(text)), repr(text)
