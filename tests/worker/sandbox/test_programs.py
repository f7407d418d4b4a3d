"""Right programs earn everything and wrong ones nothing, whatever they are made of."""

from pathlib import Path

import pytest

from tests.worker.sandbox.programs import PAIRS
from tests.worker.sandbox.programs.case import Pair
from trainer_core.rewards.graders import grade
from trainer_core.rewards.graders.code_tests import CodeTestsGrader
from trainer_core.rewards.graders.tools import Tools
from trainer_core.rewards.sample import Sample
from worker.sandbox.pool import JailPool

ROOT = Path(__file__).resolve().parents[3]


def graded(jail: JailPool, pair: Pair, answer: str) -> float:
    grader = CodeTestsGrader.model_validate({"timeout_s": 20.0, **pair.options})
    sample = Sample(output_text=answer, thinking_text=None, answer_text=answer, completion_tokens=1)
    return grade(grader, sample, pair.row, Tools(jail))


def test_there_are_as_many_wrong_programs_as_right_ones() -> None:
    assert 2 * len(PAIRS) >= 160
    assert len({pair.name for pair in PAIRS}) == len(PAIRS)
    assert all(pair.right != pair.wrong for pair in PAIRS)


def test_the_page_tells_how_many_programs_are_graded() -> None:
    """Each right one is graded 1 and each wrong one 0 by the test below, so that none scores 0 silently."""
    page = (ROOT / "docs" / "sandbox.md").read_text()
    assert f"**{len(PAIRS)} right programs, {len(PAIRS)} wrong programs, 0 silent zeros**" in " ".join(page.split())


@pytest.mark.parametrize("pair", PAIRS, ids=[pair.name for pair in PAIRS])
def test_right_programs_earn_everything_and_wrong_ones_nothing(jail: JailPool, pair: Pair) -> None:
    assert graded(jail, pair, pair.right) == 1.0
    assert graded(jail, pair, pair.wrong) == 0.0
