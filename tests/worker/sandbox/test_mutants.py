"""The fast path against pytest itself, on mutants of right programs that a small mutator makes: they never differ."""

import itertools

import pytest

from tests.support.about import TRAINING
from tests.worker.sandbox.modules.mutants import mutants
from tests.worker.sandbox.modules.styles import STYLES
from tests.worker.sandbox.modules.subjects import SUBJECTS, Subject
from trainer_core.rewards.graders.code.code_frameworks import framework_of
from trainer_core.rewards.graders.jail import Limits
from worker.sandbox.pool import JailPool

_EACH = 12
"""Most mutants of one program."""
_STYLES = 5
"""Styles in which the module of one pair of programs is written, in turn."""
_LIMITS = Limits(wall_s=120.0, cpu_s=60.0)
PLAIN = [style for style in STYLES if "pytest" not in style.module(SUBJECTS[0])]
"""Styles that the fast path may decide."""


def chosen(subject: Subject) -> list[str]:
    """Mutants of a subject's right program, evenly over its text."""
    found = mutants(subject.right)
    return [found[number * len(found) // _EACH] for number in range(_EACH)] if len(found) > _EACH else found


def test_mutants_differ_from_the_program_in_one_place() -> None:
    assert mutants("def f(x):\n    return x + 1") == [
        "def f(x):\n    return None",
        "def f(x):\n    return x - 1",
        "def f(x):\n    return x + 2",
        "def f(x):\n    return x + 0",
    ]
    assert mutants("def f(x):\n    return x") == ["def f(x):\n    return None"]
    assert mutants("x = y") == []


def test_there_are_enough_pairs() -> None:
    assert all(len(chosen(subject)) == len(set(chosen(subject))) >= 4 for subject in SUBJECTS)
    assert sum(_STYLES * len(chosen(subject)) for subject in SUBJECTS) >= 500


@pytest.mark.expensive(12, "runs pytest in the jail on modules for each mutant", about=TRAINING)
@pytest.mark.parametrize("subject", SUBJECTS, ids=[subject.name for subject in SUBJECTS])
def test_both_paths_give_mutants_the_same_verdicts(jail: JailPool, subject: Subject) -> None:
    styles = itertools.cycle(PLAIN[SUBJECTS.index(subject) :] + PLAIN[: SUBJECTS.index(subject)])
    killed = 0
    for mutant in chosen(subject):
        modules = [style.module(subject) for style in itertools.islice(styles, _STYLES)]
        frameworks, itself = [framework_of(module) for module in modules], ["pytest itself"] * len(modules)
        fast, slow = (
            [sorted(one, key=str) for one in jail.cases(mutant, "", modules, "", limits, kinds)]
            for limits, kinds in ((_LIMITS, frameworks), (_LIMITS, itself))
        )
        assert fast == slow, mutant
        killed += any(False in one for one in fast)
    assert killed
    right = jail.cases(subject.right, "", modules, "", _LIMITS, frameworks)
    assert all(set(one) == {True} for one in right)
