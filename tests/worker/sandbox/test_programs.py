"""Right programs earn everything and wrong ones nothing, whatever they are made of."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.about import TRAINING
from tests.worker.sandbox.programs import PAIRS
from tests.worker.sandbox.programs.case import Pair
from trainer_core.rewards.graders import grade
from trainer_core.rewards.graders.code.code_tests import CodeTestsGrader
from trainer_core.rewards.graders.code.python import PythonGrader
from trainer_core.rewards.graders.tools import Tools
from trainer_core.rewards.reasons import told
from trainer_core.rewards.sample import Sample
from worker.sandbox.pool import JailPool

ROOT = Path(__file__).resolve().parents[3]


def graded(jail: JailPool, pair: Pair, answer: str) -> float:
    grader = CodeTestsGrader.model_validate({"timeout_s": 20.0, **pair.options})
    sample = Sample(output_text=answer, thinking_text=None, answer_text=answer, completion_tokens=1)
    return grade(grader, sample, pair.row, Tools(jail))


SUM = CodeTestsGrader.model_validate({"timeout_s": 20.0})
PAIR_ROW = {"tests": [{"input": "1 2", "output": "3"}, {"input": "2 2", "output": "hidden 5"}]}


def told_of(jail: JailPool, grader: CodeTestsGrader, answer: str, row: dict[str, Any]) -> tuple[float, list[str]]:
    with told() as reasons:
        value = grade(grader, Sample(answer, None, answer, 1), row, Tools(jail))
    return value, reasons


def test_a_program_is_told_which_test_failed_and_never_what_the_test_holds(jail: JailPool) -> None:
    adds = "```python\nprint(sum(map(int, input().split())))\n```"
    assert told_of(jail, SUM, adds, PAIR_ROW) == (0.0, ["Test 2 of 2 fails: its output is another one."])
    crash = "```python\nprint(3)\nraise SystemExit(3)\n```"
    assert told_of(jail, SUM, crash, PAIR_ROW) == (0.0, ["Test 1 of 2 fails: it exits with status 3."])
    share = SUM.model_copy(update={"credit": "share"})
    told_share = ["Test 2 of 2 fails: its output is another one.", "Passes 1 of 2 tests."]
    assert told_of(jail, share, adds, PAIR_ROW) == (0.5, told_share)
    asserts = {"tests": ["assert f(1) == 1", "assert f(2) == 2", "assert f(3) == 'hidden'"]}
    same = "```python\ndef f(x):\n    return x\n```"
    assert told_of(jail, SUM, same, asserts) == (0.0, ["Test 3 of 3 fails."])
    assert told_of(jail, SUM, same, {"tests": asserts["tests"][:2]}) == (1.0, ["Passes all 2 tests."])
    assert told_of(jail, SUM, "no code", PAIR_ROW)[0] == 0.0


def test_what_a_python_grader_prints_is_its_reason(jail: JailPool) -> None:
    source = "def grade(sample, item):\n    print('half of it is there')\n    return 0.5"
    with told() as reasons:
        assert grade(PythonGrader(source=source), Sample("a", None, "a", 1), {}, Tools(jail)) == 0.5
    assert reasons == ["It prints: half of it is there"]


def test_there_are_as_many_wrong_programs_as_right_ones() -> None:
    assert 2 * len(PAIRS) >= 300
    assert len({pair.name for pair in PAIRS}) == len(PAIRS)
    assert all(pair.right != pair.wrong for pair in PAIRS)


def test_the_page_tells_how_many_programs_are_graded() -> None:
    """Each right one is graded 1 and each wrong one 0 by the test below, so that none scores 0 silently."""
    page = (ROOT / "docs" / "sandbox.md").read_text()
    assert f"**{len(PAIRS)} right programs, {len(PAIRS)} wrong programs, 0 silent zeros**" in " ".join(page.split())


@pytest.mark.expensive(2, "starts jails", about=TRAINING)
@pytest.mark.parametrize("pair", PAIRS, ids=[pair.name for pair in PAIRS])
def test_right_programs_earn_everything_and_wrong_ones_nothing(jail: JailPool, pair: Pair) -> None:
    assert graded(jail, pair, pair.right) == 1.0
    assert graded(jail, pair, pair.wrong) == 0.0
