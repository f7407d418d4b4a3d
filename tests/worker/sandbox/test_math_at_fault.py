"""What is too large to calculate: an error where the gold answer is at fault, a wrong answer where the answer is."""

from typing import Any

import pytest

from tests.support.math_pairs.in_process import InProcess
from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.graders.jail import Limits, Outcome
from trainer_core.rewards.graders.math.math import MathGrader
from trainer_core.rewards.sample import Sample
from worker.sandbox.pool import JailPool


def grade(jail: Any, gold: str, answer: str, timeout_s: float = 1.0) -> float:
    text = rf"\boxed{{{answer}}}"
    sample = Sample(output_text=text, thinking_text=None, answer_text=text, completion_tokens=1)
    return MathGrader(timeout_s=timeout_s).grade(sample, {"answer": gold}, jail)


@pytest.mark.parametrize("answer", [
    r"x+1+10^{20000}\sin x-10^{20000}\sin x",
    "x+1+9999999!\\sin x-9999999!\\sin x",
    r"x+1+\binom{9000000.5}{1234567.25}",
    "x" + "!" * 20,
    "+".join(f"|x+{number}|" for number in range(1, 900)),
    "x" + "^{x" * 50 + "}" * 50,
    r"\sqrt{" * 50 + "x^2" + "}" * 50,
    r"\gcd(10^{5000},x)+\lfloor 10^{5000}x\rfloor",
    "|" * 40 + "x" + "|" * 40,
    "x" * 2_000_000,
    "1" * 2_000_000,
])  # fmt: skip
def test_an_answer_is_wrong_that_is_too_large_to_calculate(answer: str) -> None:
    assert grade(InProcess(), "x+1", answer) == 0.0


def test_a_gold_answer_that_is_too_large_is_an_error() -> None:
    with pytest.raises(GraderError, match="the numbers are too large to compare"):
        grade(InProcess(), r"\sin x+10^{20000}\cos x", "x")


def test_an_answer_that_brings_the_jail_to_its_limits_is_wrong(jail: JailPool) -> None:
    assert grade(jail, r"\int_0^1 x\,dx", "9^{9^{9^{9}}}", timeout_s=0.2) == 0.0


class Ended:
    """A jail in which every comparison but that with a plain number is ended, or every one."""

    def __init__(self, always: bool) -> None:
        self._always = always

    def equal(self, comparison: Any, limits: Limits) -> Outcome:
        if self._always or comparison["latex"][1] != "0.7391":
            return Outcome("memory", 137, b"", b"", b'{"gold": true}\n', 0.0)
        return Outcome("exit", 0, b"", b"", b'{"gold": true}\n{"equal": false}', 0.0)


def test_a_comparison_that_the_jail_ends_is_the_fault_of_what_ends_it_alone() -> None:
    assert grade(Ended(always=False), r"\int_0^1 x\,dx", r"\int_0^1 y\,dy") == 0.0
    with pytest.raises(GraderError, match="cannot be compared with the answer in 1024 MiB"):
        grade(Ended(always=True), r"\int_0^1 x\,dx", r"\int_0^1 y\,dy")
