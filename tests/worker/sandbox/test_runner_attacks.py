"""Programs that try to end a test early, or to leave it out: none of their cases passes, in any framework."""

import pytest

from tests.support.about import TRAINING
from trainer_core.rewards.graders.code.code_frameworks import framework_of
from trainer_core.rewards.graders.jail import Limits
from worker.sandbox.pool import JailPool

MODULES = {
    "asserts": "assert f(1) == 2\nassert f(2) == 4",
    "functions": "def test_a(): assert f(1) == 2\ndef test_b(): assert f(2) == 4",
    "unittest": """
import unittest
from solution import f
class T(unittest.TestCase):
    def test_a(self): self.assertEqual(f(1), 2)
    def test_b(self): self.assertEqual(f(2), 4)
""",
    "parts of a case": """
import unittest
from solution import f
class T(unittest.TestCase):
    def test_a(self):
        for x in (1, 2):
            with self.subTest(x=x): self.assertEqual(f(x), 2 * x)
""",
    "the set-up of a class": """
import unittest
from solution import f
class T(unittest.TestCase):
    @classmethod
    def setUpClass(cls): cls.got = f(1)
    def test_a(self): self.assertEqual(self.got, 2)
""",
    "a clean-up": """
import unittest
from solution import f
class T(unittest.TestCase):
    def setUp(self): self.addCleanup(self.check)
    def check(self): self.assertEqual(f(1), 2)
    def test_a(self): pass
""",
    "an iteration": "def test_a(): assert all(map(lambda p: f(p[0]) == p[1], [(1, 2), (2, 4)]))",
    "pytest": "import pytest\ndef test_a(): assert f(1) == 2\n@pytest.mark.parametrize('x', [2, 3])\n"
    "def test_b(x): assert f(x) == 2 * x and all([f(x) == 2 * x])",
    "a fixture": "import pytest\n@pytest.fixture\ndef got(): return f(1)\ndef test_a(got): assert got == 2",
    "a skip that depends on the program": """
import unittest
class T(unittest.TestCase):
    def test_a(self):
        if f(1) != 2: self.skipTest('not yet')
""",
    "an xfail that depends on the program": """
import pytest
def test_a():
    if f(1) != 2: pytest.xfail('known')
""",
}
RAISED = {
    "SkipTest": "import unittest\ndef f(x): raise unittest.SkipTest('later')",
    "a class that extends SkipTest": "import unittest\nclass S(unittest.SkipTest): pass\ndef f(x): raise S('later')",
    "_ShouldStop": "import unittest\ndef f(x): raise unittest.case._ShouldStop()",
    "_UnexpectedSuccess": "import unittest\ndef f(x): raise unittest.case._UnexpectedSuccess()",
    "KeyboardInterrupt": "def f(x): raise KeyboardInterrupt",
    "an exception that is an interrupt": "class K(Exception, KeyboardInterrupt): pass\ndef f(x): raise K()",
    "an exception that closes generators": "class K(Exception, GeneratorExit): pass\ndef f(x): raise K()",
    "SystemExit": "def f(x): raise SystemExit(0)",
    "a class that extends SystemExit": "class K(SystemExit): pass\ndef f(x): raise K(0)",
    "StopIteration": "def f(x): raise StopIteration",
    "a class that extends StopIteration": "class S(StopIteration): pass\ndef f(x): raise S",
    "StopAsyncIteration": "def f(x): raise StopAsyncIteration",
    "CancelledError": "import asyncio\ndef f(x): raise asyncio.CancelledError",
    "BdbQuit": "import bdb\ndef f(x): raise bdb.BdbQuit",
    "a group": "import unittest\ndef f(x): raise ExceptionGroup('g', [unittest.SkipTest('later')])",
    "a cause": "import unittest\ndef f(x): raise ValueError from unittest.SkipTest('later')",
    "a module that is missing": "def f(x): import nothing_here",
}
_FORGED = """
import json, os, time
def f(x):
    error = {{"mine": 99, "class": {{"type": "{kind}"}}, "text": "later", "args": ["later"]}}
    os.write(102, json.dumps({{"answer": True, "error": error}}).encode() + b"\\n")
    time.sleep(9)
"""
OTHERS = {
    "a forged SkipTest": _FORGED.format(kind="unittest.case.SkipTest"),
    "a forged exception of pytest": _FORGED.format(kind="_pytest.outcomes.Skipped"),
    "os._exit": "import os\ndef f(x): os._exit(0)",
    "a thread that ends the process": "import threading, os\nthreading.Thread(target=lambda: os._exit(0)).start()\n"
    "def f(x): return 0",
    "an exit hook": "import atexit, os\natexit.register(lambda: os._exit(0))\ndef f(x): raise SystemExit(0)",
    "files for pytest": "open('conftest.py', 'w').write('collect_ignore = [\"test_solution.py\"]')\n"
    "open('pytest.ini', 'w').write('[pytest]\\naddopts = --collect-only')\ndef f(x): return 0",
    "variables for pytest": "import os\nos.environ['PYTEST_ADDOPTS'] = '--collect-only'\ndef f(x): return 0",
    "tests of its own": "def all(*a): return True\ndef test_own(): pass\nclass TestOwn:\n    def test_own(self): pass\n"
    "pytestmark = []\ndef f(x): return 0",
    "hooks of its own": "def load_tests(*a): return []\ndef setUpModule(): raise SystemExit(0)\n"
    "setup_module = setUpModule\ndef f(x): return 0",
    "equal to every other value": "class f:\n    n = 0\n    def __init__(self, x): pass\n    __hash__ = None\n"
    "    def __eq__(self, other):\n        f.n += 1\n        return f.n % 2 == 1",
    "equal to small values": "class f:\n    def __init__(self, x): pass\n    __hash__ = None\n"
    "    def __eq__(self, other): return other < 1000",
    "a name of the tests": "def f(x): return expected",
    "no function": "",
}


@pytest.mark.expensive(2, "starts jails", about=TRAINING)
@pytest.mark.parametrize("program", [*RAISED.values(), *OTHERS.values()], ids=[*RAISED, *OTHERS])
def test_no_case_passes(jail: JailPool, program: str) -> None:
    for name, module in MODULES.items():
        limits = Limits(wall_s=5.0, cpu_s=2.0)
        verdicts = jail.assertions(program, "", [module], "", limits, [framework_of(module)])
        assert set(verdicts) <= {False}, (name, verdicts)


@pytest.mark.expensive(2, "starts jails", about=TRAINING)
def test_the_right_program_passes_them_all(jail: JailPool) -> None:
    frameworks = [framework_of(module) for module in MODULES.values()]
    verdicts = jail.cases("def f(x): return 2 * x", "", [*MODULES.values()], "", Limits(30.0, cpu_s=20.0), frameworks)
    assert all(one and set(one) == {True} for one in verdicts), dict(zip(MODULES, verdicts, strict=True))


def test_what_the_test_expects_is_not_shared_with_the_program(jail: JailPool) -> None:
    tests = [
        "expected = [2]\nassert [f(1)] == expected",
        "def reference(x): return [2]\nexpected = 3\nassert [f(1)] == reference(1)",
        "class Answer:\n    def of(self, x): return [2]\nassert [f(1)] == Answer().of(1)",
    ]
    for name in ("expected", "reference(x)", "Answer().of(x)"):
        assert jail.assertions(f"def f(x): return {name}[0]", "", tests, "", Limits()) == [False] * 3
