"""Calculations with one operation on whole numbers: writing and drawing them, and holding some out for evaluation."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, get_args

Operation = Literal["+", "-", "*", "/"]
OPERATIONS: tuple[Operation, ...] = get_args(Operation)

HELD_OUT_SHARE = 0.15
"""Share of all problems that neither the warm-up nor the training data may contain."""

# Weights of operand lengths in digits, close to GSM8K's calculations. Medium lengths have more weight than there,
# because a drawn number is seldom as round as a written one, and the policy should see every carry.
_DIGIT_WEIGHTS: dict[Operation, tuple[tuple[int, int], ...]] = {
    "+": ((1, 20), (2, 45), (3, 25), (4, 10)),
    "-": ((1, 20), (2, 45), (3, 25), (4, 10)),
    "*": ((1, 45), (2, 45), (3, 10)),
    "/": ((1, 45), (2, 45), (3, 10)),
}


@dataclass(frozen=True, slots=True)
class ArithmeticProblem:
    """One calculation whose operands and result are whole numbers of at least zero."""

    left: int
    operation: Operation
    right: int

    def __post_init__(self) -> None:
        """Raise ValueError if the result is not a whole number of at least zero."""
        if self.operation not in OPERATIONS:
            raise ValueError(f"unknown operation {self.operation!r}; known: {' '.join(OPERATIONS)}")
        if self.left < 0 or self.right < 0:
            raise ValueError(f"operands must be at least 0: {self.prompt}")
        if self.operation == "-" and self.left < self.right:
            raise ValueError(f"the result is negative: {self.prompt}")
        if self.operation == "/" and (self.right == 0 or self.left % self.right):
            raise ValueError(f"the result is not a whole number: {self.prompt}")

    @property
    def prompt(self) -> str:
        """The question, such as ``48/2=``."""
        return f"{self.left}{self.operation}{self.right}="

    @property
    def answer(self) -> int:
        """The result."""
        match self.operation:
            case "+":
                return self.left + self.right
            case "-":
                return self.left - self.right
            case "*":
                return self.left * self.right
            case "/":
                return self.left // self.right

    @property
    def is_held_out(self) -> bool:
        """Whether the problem is held out for evaluation.

        A hash of the problem decides, so that warm-up, training and evaluation data are disjoint without coordination.
        Sums and products count as the same problem in either order.
        """
        left, right = self.left, self.right
        if self.operation in "+*":
            left, right = sorted((left, right))
        digest = sha256(f"{left}{self.operation}{right}".encode()).digest()
        return int.from_bytes(digest[:8], "big") < HELD_OUT_SHARE * 2**64


def has_scratchpad(problem: ArithmeticProblem) -> bool:
    """Whether the hand method works: products and quotients need a one-digit second operand (products: either one)."""
    match problem.operation:
        case "+" | "-":
            return True
        case "*":
            return min(problem.left, problem.right) < 10
        case "/":
            return problem.right < 10


def draw_problem(rng: random.Random, shares: Mapping[Operation, float]) -> ArithmeticProblem:
    """A random problem that has a scratchpad and is not held out; operand lengths follow GSM8K's calculations.

    Args:
        rng: the source of randomness.
        shares: relative frequency of each operation.
    """
    while True:
        (operation,) = rng.choices(list(shares), list(shares.values()))
        left, right = _draw_number(rng, operation), _draw_number(rng, operation)
        match operation:
            case "-":
                left, right = max(left, right), min(left, right)
            case "/":
                right = max(right, 1)
                left *= right
        problem = ArithmeticProblem(left, operation, right)
        if has_scratchpad(problem) and not problem.is_held_out:
            return problem


def _draw_number(rng: random.Random, operation: Operation) -> int:
    digits, weights = zip(*_DIGIT_WEIGHTS[operation], strict=True)
    (length,) = rng.choices(digits, weights)
    return rng.randrange(10 ** (length - 1) if length > 1 else 0, 10**length)
