"""One labelled pair, and how families of them are made."""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Made = Iterator[tuple[str | list[str], str, bool]]
"""Gold answer or accepted ones, answer, and whether it is right."""


@dataclass(frozen=True)
class Pair:
    """A gold answer and an answer, with the label that a mathematician gives it."""

    family: str
    gold: Any
    answer: str
    right: bool
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the grader, such as ``answer_type``."""
    whole: bool = False
    """Whether the answer is a whole completion; else it stands in a box."""

    @property
    def text(self) -> str:
        """The completion that is graded."""
        return self.answer if self.whole else rf"So the answer is $\boxed{{{self.answer}}}$."


Family = Callable[[random.Random], Made]


def digits_moved(chance: random.Random, digits: str) -> str:
    """``digits`` with one of them changed; never the same number."""
    place = chance.randrange(len(digits))
    other = chance.choice([one for one in "123456789" if one != digits[place]])
    return digits[:place] + other + digits[place + 1 :]
