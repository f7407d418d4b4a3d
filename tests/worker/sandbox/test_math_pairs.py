"""The labelled suite of mathematical answers: what is right is paid, what is wrong is not, at any load."""

from collections import Counter
from typing import Any

import pytest

from tests.support.about import TRAINING
from tests.support.busy import busy
from tests.support.math_pairs import suite
from tests.support.math_pairs.in_process import InProcess
from tests.support.math_pairs.pair import Pair
from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.graders.math.math import MathGrader
from trainer_core.rewards.sample import Sample
from worker.sandbox.pool import JailPool

PAIRS = suite.stored()
IN_JAIL = 60
"""Every so many pairs one is graded in a jail as well."""


def graded(pair: Pair, jail: Any) -> float:
    sample = Sample(output_text=pair.text, thinking_text=None, answer_text=pair.text, completion_tokens=1)
    return MathGrader(**pair.options).grade(sample, {"answer": pair.gold}, jail)


def test_the_file_is_what_the_families_make() -> None:
    assert list(suite.made()) == PAIRS
    counts = Counter(pair.right for pair in PAIRS)
    assert len(PAIRS) >= 1500 and counts[False] >= counts[True] >= 0.9 * counts[False]


@pytest.mark.expensive(5, "five thousand pairs", about=("worker/sandbox", "trainer_core/rewards"))
def test_every_pair_is_graded_as_it_is_labelled() -> None:
    jail = InProcess()
    wrong = [pair for pair in PAIRS if graded(pair, jail) != float(pair.right)]
    assert wrong == []
    assert jail.asked > 200, "the pairs that need calculation"


@pytest.mark.expensive(1, "eighty pairs in a jail", about=("worker/sandbox", "trainer_core/rewards"))
def test_the_jail_says_the_same(jail: JailPool) -> None:
    assert [pair for pair in PAIRS[::IN_JAIL] if graded(pair, jail) != float(pair.right)] == []


HARD = [
    Pair("load", r"\int_0^1 x\,dx", r"\int_0^1 y\,dy", True),
    Pair("load", "x^2+2x+1", "(x+1)^2", True),
    Pair("load", r"\frac{\sin 2x}{2}", r"\sin x\cos x", True),
    Pair("load", "2^{9000}", "2^{9000}+1", False),
]
LOAD = 40
"""Busy processes beside a grader that must not change what it says."""


def sample() -> list[Pair]:
    """Of each family a right and a wrong pair, which are calculated if there are any: ``scripts/grade_pairs.py --load``
    grades all pairs."""
    families: dict[tuple[str, bool], list[Pair]] = {}
    for pair in PAIRS:
        families.setdefault((pair.family, pair.right), []).append(pair)
    return [next(filter(_is_calculated, pairs[:60]), pairs[-1]) for pairs in families.values()]


def _is_calculated(pair: Pair) -> bool:
    jail = InProcess()
    graded(pair, jail)
    return jail.asked > 0


@pytest.mark.expensive(1, "starts a jail with its packages")
@pytest.mark.usefixtures("slow_machine")
def test_a_slow_machine_changes_no_verdict(jail: JailPool) -> None:
    pairs = [*HARD, *PAIRS[:: 5 * IN_JAIL]]
    assert [pair for pair in pairs if graded(pair, jail) != float(pair.right)] == []


@pytest.mark.loud
@pytest.mark.expensive(60, "forty busy processes beside", about=("worker/sandbox", "trainer_core/rewards"))
def test_a_busy_machine_changes_no_verdict(jail: JailPool) -> None:
    pairs = [*sample(), *HARD]
    assert {pair.family for pair in pairs} == {pair.family for pair in PAIRS} | {"load"}
    assert sum(map(_is_calculated, pairs)) >= 30
    alone = [graded(pair, jail) for pair in pairs]
    with busy(LOAD):
        beside = [graded(pair, jail) for pair in pairs]
    differing = [pair for pair, one, other in zip(pairs, alone, beside, strict=True) if one != other]
    assert differing == []
    assert alone == [float(pair.right) for pair in pairs]


@pytest.mark.expensive(2, "starts jails", about=TRAINING)
def test_what_cannot_be_finished_is_an_error_and_another_gold_answer_still_counts(jail: JailPool) -> None:
    deep = "(" * 70 + "x" + ")" * 70
    grader = MathGrader(timeout_s=0.3)
    sample = Sample(output_text="", thinking_text=None, answer_text=r"\boxed{x+1}", completion_tokens=1)
    with pytest.raises(GraderError, match=r"more than 0\.3 s of processor time"):
        grader.grade(sample, {"answer": [deep, "7"]}, jail)
    assert grader.grade(sample, {"answer": [deep, "1+x"]}, jail) == 1.0
