"""Verdicts in grading processes are those of before: all test cases of the pure graders, graded both ways."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CASES = (
    "test_answer_graders",
    "test_exact_and_length",
    "test_format",
    "test_numeric",
    "test_openai_graders",
    "test_score",
)


@pytest.mark.expensive(18, "runs the graders' tests a second time", about=("trainer_core/rewards",))
def test_all_cases_of_the_graders_get_the_same_verdict() -> None:
    files = [str(HERE / f"{name}.py") for name in CASES]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "tests.support.grade_twice", "-p", "no:cacheprovider"]
    done = subprocess.run([*command, *files], capture_output=True, text=True, cwd=HERE.parents[2])
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    compared = re.search(r"grades compared: (\d+)", done.stdout)
    assert compared is not None and int(compared[1]) > 200
