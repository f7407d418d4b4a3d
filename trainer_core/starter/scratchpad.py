"""Systematic scratchpads: a calculation done by hand, one digit at a time.

Each column is one word of three characters, so that each character depends on few earlier ones:

========= ============================================= ============== ==================
operation column                                        example        scratchpad
========= ============================================= ============== ==================
``+ -``   digits of both operands, digit of the result  ``48+75=``     ``853 472 1``
``*``     digit, multiplier, digit of the result        ``48*6=``      ``868 468 2``
``/``     digit, quotient digit, remainder              ``96/4=``      ``921 640``
========= ============================================= ============== ==================

Sums, differences and products are computed from the right, and a last word holds what is carried beyond the first
column. Quotients are computed from the left. Carries are not written down: that is the part the policy has to learn.
"""

from itertools import zip_longest

from trainer_core.starter.problems import ArithmeticProblem, has_scratchpad
from trainer_core.starter.tokenizer import EOS, THINK_END, THINK_START


def scratchpad(problem: ArithmeticProblem) -> str:
    """The worked columns of a problem, separated by spaces.

    Raises:
        ValueError: the hand method does not cover the problem (see ``has_scratchpad``).
    """
    if not has_scratchpad(problem):
        raise ValueError(f"no scratchpad for {problem.prompt}: the second operand has more than one digit")
    if problem.operation == "/":
        return _long_division(problem.left, problem.right)
    if problem.operation == "*":
        digit, number = sorted((problem.left, problem.right))
        columns = [(column, str(digit)) for column in reversed(str(number))]
    else:
        columns = list(zip_longest(reversed(str(problem.left)), reversed(str(problem.right)), fillvalue="0"))
    result = str(problem.answer)[::-1]
    words = [f"{upper}{lower}{r}" for (upper, lower), r in zip(columns, result.ljust(len(columns), "0"), strict=False)]
    return " ".join([*words, *result[len(columns) :]])


def response(problem: ArithmeticProblem, thinking: str | None) -> str:
    """The whole response: ``<think>thinking</think>answer<eos>``, or ``answer<eos>`` if ``thinking`` is None."""
    opening = "" if thinking is None else f"{THINK_START}{thinking}{THINK_END}"
    return f"{opening}{problem.answer}{EOS}"


def _long_division(dividend: int, divisor: int) -> str:
    words, remainder = [], 0
    for digit in str(dividend):
        quotient, remainder = divmod(10 * remainder + int(digit), divisor)
        words.append(f"{digit}{quotient}{remainder}")
    return " ".join(words)
