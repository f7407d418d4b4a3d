"""Tests that are written for unittest or pytest: every case counts, and none passes because nothing ran it."""

import signal
import socket
from collections.abc import Mapping
from contextlib import closing
from typing import Any

import pytest

from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.graders import grade
from trainer_core.rewards.graders.code.code_frameworks import framework_of
from trainer_core.rewards.graders.code.code_tests import CodeTestsGrader
from trainer_core.rewards.graders.jail import Limits
from trainer_core.rewards.graders.tools import Tools
from trainer_core.rewards.sample import Sample
from worker.sandbox.job_run import JobRun
from worker.sandbox.pool import JailPool
from worker.sandbox.slot import Slot

RIGHT = """
class Negative(ValueError): pass
def root(x):
    if x < 0: raise Negative('negative')
    return x ** 0.5
def words(text):
    print(text)
    return text.split()
"""
WRONG = RIGHT.replace("0.5", "0.4").replace("Negative('n", "TypeError('n")
UNITTEST = """
import unittest
from solution import root, Negative
class TestRoot(unittest.TestCase):
    def setUp(self): self.four = 4
    def test_square(self): self.assertEqual(root(self.four), 2.0)
    def test_almost(self): self.assertAlmostEqual(root(2), 1.41421356, places=6)
    def test_negative(self):
        with self.assertRaises(Negative): root(-1)
    def test_words(self): self.assertListEqual(words('a b'), ['a', 'b'])
if __name__ == '__main__':
    unittest.main()
"""
PYTEST = """
import pytest
from solution import root, words
@pytest.mark.parametrize(('x', 'wanted'), [(4, 2.0), (9, 3.0)])
def test_root(x, wanted): assert root(x) == pytest.approx(wanted)
@pytest.fixture
def text(): return 'a b c'
def test_words(text, capsys):
    assert words(text) == ['a', 'b', 'c']
    assert capsys.readouterr().out == 'a b c\\n'
def test_negative():
    with pytest.raises(ValueError, match='negative'): root(-1)
class TestMore:
    def test_zero(self): assert root(0) == 0
"""
PLAIN = """
def test_root(): assert root(4) == 2
class TestWords:
    def test_two(self): assert words('a b') == ['a', 'b']
"""


def graded(jail: JailPool, code: str, test: str | list[str], **options: Any) -> float:
    sample = Sample(output_text=code, thinking_text=None, answer_text=code, completion_tokens=1)
    return grade(CodeTestsGrader(timeout_s=20.0, **options), sample, {"tests": test}, Tools(jail))


@pytest.mark.parametrize("test", [UNITTEST, PYTEST, PLAIN], ids=["unittest", "pytest", "plain"])
def test_cases_are_run(jail: JailPool, test: str) -> None:
    assert graded(jail, RIGHT, test) == 1.0
    assert graded(jail, WRONG, test) == 0.0


def test_each_case_has_its_share(jail: JailPool) -> None:
    assert graded(jail, WRONG, UNITTEST, credit="share") == 0.25
    assert graded(jail, WRONG, PYTEST, credit="share") == 2 / 5
    assert graded(jail, WRONG, PLAIN, credit="share") == 0.5


@pytest.mark.parametrize(
    ("test", "framework"),
    [
        (UNITTEST, "unittest"),
        (PYTEST, "pytest"),
        (PLAIN, "pytest"),
        ("assert f(1) == 2", "asserts"),
        ("def test_f():\n    assert f(1) == 2\ntest_f()", "asserts"),
        ("def check(candidate):\n    assert candidate(1) == 2\ncheck(f)", "asserts"),
        ("class TestData: rows = 3\nfor _ in range(TestData.rows): assert f(1)", "asserts"),
        ("not Python at all (", "asserts"),
        (f"{UNITTEST}\ndef test_more(): assert root(4) == 2", "pytest"),
        ("class Base:\n    def test_x(self): pass\nclass TestA(Base): pass", "pytest"),
        ("def test_f():\n    assert f(1) == 2\nprint('ready')", "pytest"),
        ("def test_f():\n    assert f(1) == 2\nfor x in list(globals().values()):\n    callable(x)", "pytest"),
        ("def test_f(g):\n    assert g(1) == 2\nfor x in list(globals().values()):\n    x(f)", "asserts"),
        ("if True:\n    def test_f(): assert f(1) == 2", "pytest"),
        ("import pytest\n@pytest.fixture\ndef four(): return 4", "conftest"),
    ],
)
def test_the_framework_is_told_from_the_test(test: str, framework: str) -> None:
    assert framework_of(test) == framework


MIXED = f"""{UNITTEST}
def test_more(): assert root(9) == 3.0
class TestMore:
    def test_it(self): assert root(16) == 4.0
"""
ONLY_BESIDE = """
import unittest
class TestNothing(unittest.TestCase):
    def test_nothing(self): pass
def test_root(): assert root(4) == 2.0
"""


def test_all_cases_of_a_module_run_whichever_framework_they_are_for(jail: JailPool) -> None:
    assert graded(jail, RIGHT, MIXED) == 1.0
    assert graded(jail, WRONG, MIXED, credit="share") == 1 / 6
    assert graded(jail, WRONG, ONLY_BESIDE) == 0.0


def test_a_conftest_beside_the_tests_gives_them_its_fixtures(jail: JailPool) -> None:
    tests = ["import pytest\n@pytest.fixture\ndef four(): return 4", "def test_root(four): assert root(four) == 2.0"]
    for framework in ("auto", "pytest"):
        assert graded(jail, RIGHT, tests, framework=framework) == 1.0
        assert graded(jail, WRONG, tests, framework=framework) == 0.0
    with pytest.raises(GraderError, match="no cases that use them"):
        graded(jail, RIGHT, tests[:1])


def test_a_script_runs_what_it_guards(jail: JailPool) -> None:
    script = "def run():\n    assert root(4) == 2.0\nif __name__ == '__main__':\n    run()"
    assert (graded(jail, RIGHT, script), graded(jail, WRONG, script)) == (1.0, 0.0)
    with pytest.raises(GraderError, match="test 0 only defines functions and calls none"):
        graded(jail, RIGHT, "def check(candidate):\n    assert candidate(4) == 2.0")


def test_what_says_nothing_about_the_program_is_an_error(jail: JailPool) -> None:
    skipped = "import unittest\n@unittest.skip('later')\nclass T(unittest.TestCase):\n    def test_a(self): root(1)"
    with pytest.raises(GraderError, match="every case of a test is skipped"):
        graded(jail, RIGHT, skipped)
    coroutine = "import unittest\nclass T(unittest.TestCase):\n    async def test_a(self): assert root(4) == 2.0"
    with pytest.raises(GraderError, match="a coroutine, which TestCase does not await"):
        graded(jail, RIGHT, coroutine)
    with pytest.raises(GraderError, match="a coroutine, which pytest alone does not run"):
        graded(jail, RIGHT, "async def test_a(): assert root(4) == 2.0")


def test_it_is_counted_which_path_decides() -> None:
    with closing(JailPool()) as jail:
        for test in (PLAIN, UNITTEST, PYTEST):
            graded(jail, RIGHT, test)
        assert (jail.paths.fast, jail.paths.slow) == (2, 1)


def test_the_framework_can_be_named(jail: JailPool) -> None:
    assert graded(jail, WRONG, PLAIN, framework="asserts") == 1.0, "as it was: only what stands at the top runs"
    with pytest.raises(GraderError, match="holds no cases"):
        graded(jail, RIGHT, "assert root(4) == 2", framework="unittest")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"tests": ["assert f( == 2"]}, "test 0 is no Python"),
        ({"tests": ["assert f(1) == 2"], "setup": "import no_such_package"}, "setup fails by itself: ModuleNotFound"),
        ({"tests": ["assert f(1) == 2"], "setup": "x = 1 / 0"}, "setup fails by itself: ZeroDivisionError"),
        ({"tests": ["import no_such_package\nassert f(1) == 2"]}, "cannot run in the jail.*no_such_package"),
        (
            {"tests": ["class Mine(Base):\n    def f(self): return 2\nassert Mine().f() == 2"]},
            "extends the program's class",
        ),
        ({"tests": ["assert double(Money(5)) == 10"]}, "only the program could say"),
    ],
)
def test_a_row_that_cannot_judge_is_an_error_and_no_zero(jail: JailPool, row: dict[str, Any], message: str) -> None:
    code = """
def f(x): return 2 * x
def double(x): return Money(2 * x.n)
class Base: pass
class Money:
    def __init__(self, n): self.n = n
    def __eq__(self, other): return self.n == (other.n if isinstance(other, Money) else other)
"""
    sample = Sample(output_text=code, thinking_text=None, answer_text=code, completion_tokens=1)
    grader = CodeTestsGrader(timeout_s=20.0, setup="setup")
    with pytest.raises(GraderError, match=message):
        grade(grader, sample, {"setup": "", **row}, Tools(jail))
    with pytest.raises(GraderError, match=message):
        grade(grader.model_copy(update={"credit": "share"}), sample, {"setup": "", **row}, Tools(jail))


def test_a_row_is_at_fault_though_the_program_has_no_jail_yet(jail: JailPool, monkeypatch: pytest.MonkeyPatch) -> None:
    begin, stopped = Slot.begin, []

    def begin_late(slot: Slot, job: Mapping[str, Any], limits: Limits, link: socket.socket | None = None) -> JobRun:
        run = begin(slot, job, limits, link)
        if job["role"] == "candidate":
            stopped.append(signal.pidfd_send_signal(run._program, signal.SIGSTOP))
        return run

    monkeypatch.setattr(Slot, "begin", begin_late)
    with pytest.raises(GraderError, match="test 0 is no Python"):
        graded(jail, RIGHT, "assert f( == 2")
    assert len(stopped) == 1, "it was not tried again"
