"""Reference solutions of real sets score 1, changed ones 0. The whole sets: ``scripts/grade_references.py``."""

from pathlib import Path

import pytest

from scripts.grade_references import SETS, grades
from worker.sandbox.pool import JailPool

REFERENCES = Path(__file__).resolve().parents[2] / "data" / "references"


ABOUT = ("worker/sandbox", "trainer_core/rewards", "scripts/grade_references.py")
PROGRAMS = pytest.mark.expensive(3, "runs a hundred programs", about=ABOUT)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=PROGRAMS if name in ("humaneval", "mbpp") else ()) for name in SETS],
)
def test_references_score_one_and_changed_ones_zero(jail: JailPool, name: str) -> None:
    found = list(grades(name, REFERENCES, jail))
    assert len(found) == 25
    assert [case for case in found if case[1:] != (1.0, 0.0)] == []
