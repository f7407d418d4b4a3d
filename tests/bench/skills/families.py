"""Three families of calculations on digits, each worked out step by step, at three levels of length.

======= ============== =================== ======= ==========================================
family  prompt         working             answer  one step
======= ============== =================== ======= ==========================================
sum     ``a4b8c5=``    ``b812c517``        ``17``  add the next digit to the running total
chain   ``a4b*8c-5=``  ``b*82c-57``        ``7``   the last digit of the running value op digit
sort    ``s528=``      ``25 258``          ``258`` insert the next digit into its place
======= ============== =================== ======= ==========================================

Letters say whose turn it is, and sums and chains repeat what is done before its outcome, so that each character follows
from few others. An answer is a state, and a wrong step is carried on to the end: reliability per step is what has to
grow, and the higher the level, the more steps have to be right.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from string import ascii_lowercase
from typing import Literal, get_args

Family = Literal["sum", "chain", "sort"]
FAMILIES: tuple[Family, ...] = get_args(Family)
LEVELS: Mapping[Family, tuple[int, int, int]] = {"sum": (3, 5, 7), "chain": (3, 5, 7), "sort": (3, 4, 5)}
"""Digits of a problem, by family, the easy level first."""
HELD_OUT_SHARE = 0.15
"""Share of all problems that neither the warm-up nor the training rows may contain."""
OPERATIONS = "+-*"


@dataclass(frozen=True, slots=True)
class Problem:
    """One calculation: its digits, and in a chain the operation before each digit but the first."""

    family: Family
    digits: tuple[int, ...]
    operations: str = ""

    @property
    def level(self) -> int:
        """1, 2 or 3."""
        return LEVELS[self.family].index(len(self.digits)) + 1

    @property
    def source(self) -> str:
        """Name of the sub-skill, such as ``sum_3``: family and level."""
        return f"{self.family}_{self.level}"

    @property
    def prompt(self) -> str:
        """The question."""
        if self.family == "sort":
            return f"s{''.join(map(str, self.digits))}="
        return f"a{self.digits[0]}{''.join(self._done())}="

    @property
    def answer(self) -> str:
        """The right answer."""
        return self.states()[-1]

    def words(self, states: Sequence[str]) -> list[str]:
        """The working as it is written: states, in sums and chains behind what led to each."""
        if self.family == "sort":
            return list(states)
        return [f"{what}{state}" for what, state in zip(self._done(), states, strict=True)]

    def _done(self) -> list[str]:
        """What is done in each step: its letter, and operation and digit."""
        operations = self.operations or [""] * (len(self.digits) - 1)
        return [
            f"{letter}{op}{digit}"
            for letter, op, digit in zip(ascii_lowercase[1:], operations, self.digits[1:], strict=False)
        ]

    @property
    def is_held_out(self) -> bool:
        """Whether the problem is kept for evaluation; a hash of the prompt decides."""
        return int.from_bytes(sha256(self.prompt.encode()).digest()[:8], "big") < HELD_OUT_SHARE * 2**64

    def states(self, slips: Sequence[bool] = (), rng: random.Random | None = None) -> list[str]:
        """The working, one state per digit but the first; the last is the answer.

        Args:
            slips: whether each step goes wrong; none does where it is left out.
            rng: decides how a step goes wrong.
        """
        state, shown = str(self.digits[0]), []
        for index in range(1, len(self.digits)):
            state = self._step(state, index)
            if slips and slips[index - 1]:
                assert rng is not None
                state = self._slipped(state, rng)
            shown.append(state)
        return shown

    def _step(self, state: str, index: int) -> str:
        digit = self.digits[index]
        match self.family:
            case "sum":
                return str(int(state) + digit)
            case "chain":
                value = int(state)
                match self.operations[index - 1]:
                    case "+":
                        value += digit
                    case "-":
                        value -= digit
                    case _:
                        value *= digit
                return str(value % 10)
            case "sort":
                return "".join(sorted(state + str(digit)))

    def _slipped(self, state: str, rng: random.Random) -> str:
        """Another state than the right one, near it."""
        match self.family:
            case "sum":
                return str(max(0, int(state) + rng.choice((-10, -1, 1, 10))) if int(state) > 10 else int(state) + 1)
            case "chain":
                return str((int(state) + rng.randrange(1, 10)) % 10)
            case "sort":
                places = [i for i in range(len(state) - 1) if state[i] != state[i + 1]]
                if not places:  # all digits are equal
                    return state[:-1] + str(int(state[-1]) % 9 + 1)
                at = rng.choice(places)
                return state[:at] + state[at + 1] + state[at] + state[at + 2 :]


def sources() -> list[str]:
    """The nine sub-skills, family by family, the easy level first."""
    return [f"{family}_{level}" for family in FAMILIES for level in (1, 2, 3)]


def draw_problem(rng: random.Random, source: str, *, held_out: bool = False) -> Problem:
    """A random problem of a sub-skill, of those that are held out or of the others."""
    family, _, level = source.partition("_")
    assert family in FAMILIES
    size = LEVELS[family][int(level) - 1]
    while True:
        digits = tuple(rng.randrange(1, 10) for _ in range(size))
        operations = "".join(rng.choices(OPERATIONS, k=size - 1)) if family == "chain" else ""
        problem = Problem(family, digits, operations)
        if problem.is_held_out == held_out:
            return problem
