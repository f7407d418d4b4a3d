"""The fast path against pytest itself, on modules in the styles of public repositories: they never differ."""

from collections.abc import Sequence

import pytest

from tests.support.about import TRAINING
from tests.worker.sandbox.modules.styles import STYLES, Style
from tests.worker.sandbox.modules.subjects import RIGHT, SUBJECTS, WRONG
from trainer_core.rewards.graders.code.code_frameworks import framework_of
from trainer_core.rewards.graders.jail import Limits, Verdict
from worker.sandbox.pool import JailPool

LIMITS = Limits(wall_s=120.0, cpu_s=60.0)


def verdicts(jail: JailPool, program: str, modules: Sequence[str], frameworks: Sequence[str]) -> list[list[Verdict]]:
    """Verdicts on the cases of each module. Their order is the runner's own."""
    return [sorted(one, key=str) for one in jail.cases(program, "", modules, "", LIMITS, frameworks)]


def test_there_are_enough_modules() -> None:
    assert len({style.module(subject) for style in STYLES for subject in SUBJECTS}) >= 500


@pytest.mark.expensive(6, "runs pytest in the jail on a module for each function", about=TRAINING)
@pytest.mark.parametrize("style", STYLES, ids=[style.name for style in STYLES])
def test_both_paths_give_the_same_verdicts(jail: JailPool, style: Style) -> None:
    modules = [style.module(subject) for subject in SUBJECTS]
    chosen, itself = [framework_of(module) for module in modules], ["pytest itself"] * len(modules)
    right = verdicts(jail, RIGHT, modules, chosen)
    assert right == verdicts(jail, RIGHT, modules, itself)
    assert all(one and set(one) == {True} for one in right)
    wrong = verdicts(jail, WRONG, modules, chosen)
    assert wrong == verdicts(jail, WRONG, modules, itself)
    assert all(False in one for one in wrong)
