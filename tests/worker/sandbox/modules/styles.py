"""Styles in which people write modules of tests: each fills in a function under test."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.worker.sandbox.modules.subjects import Subject


@dataclass(frozen=True)
class Style:
    """A module with the places F (the function), R (a call that is refused) and, for each check, C0, W0 and so on."""

    name: str
    text: str

    def module(self, subject: Subject) -> str:
        """The module about a function."""
        text = self.text.strip("\n").replace("$F", subject.name).replace("$R", subject.refused)
        for number, (call, wanted) in enumerate(subject.checks):
            text = text.replace(f"$C{number}", call).replace(f"$W{number}", wanted)
        return text + "\n"


def _style(name: str) -> Callable[[str], None]:
    def add(text: str) -> None:
        STYLES.append(Style(name, text))

    return add


STYLES: list[Style] = []
_style("functions")("""
from solution import $F
def test_first():
    assert $C0 == $W0
def test_second():
    assert $C1 == $W1
""")
_style("functions that use the names without an import")("""
def test_first():
    assert $C0 == $W0
def helper(x): return x
def test_second(): assert helper($C1) == $W1
""")
_style("class")("""
from solution import $F
class Test$F:
    wanted = $W0
    def test_first(self): assert $C0 == self.wanted
    def helper(self): return $C1
    def test_second(self): assert self.helper() == $W1
""")
_style("unittest")("""
import unittest
from solution import $F
class Checks(unittest.TestCase):
    def test_first(self): self.assertEqual($C0, $W0)
    def test_second(self): self.assertEqual($C1, $W1)
    def test_refused(self):
        with self.assertRaises(ValueError): $R
if __name__ == '__main__':
    unittest.main()
""")
_style("unittest with setUp and tearDown")("""
from unittest import TestCase, main
import solution
class TestIt(TestCase):
    def setUp(self): self.seen = [solution.$F]
    def tearDown(self): self.seen.clear()
    def test_first(self):
        $F = self.seen[0]
        self.assertEqual($C0, $W0)
    def test_third(self):
        $F = self.seen[-1]
        assert $C2 == $W2
main() if False else None
""")
_style("unittest with setUpClass")("""
import unittest
from solution import *
class TestIt(unittest.TestCase):
    @classmethod
    def setUpClass(cls): cls.got = $C0
    @classmethod
    def tearDownClass(cls): del cls.got
    def test_first(self): self.assertEqual(self.got, $W0)
    def test_other(self): self.assertTrue($C1 == $W1)
""")
_style("unittest with setUpModule")("""
import unittest
from solution import $F
STATE = {}
def setUpModule(): STATE['got'] = $C0
def tearDownModule(): STATE.clear()
class TestIt(unittest.TestCase):
    def test_first(self): self.assertEqual(STATE['got'], $W0)
""")
_style("unittest with an inherited case")("""
import unittest
from solution import $F
class Base(unittest.TestCase):
    def test_base(self): self.assertEqual($C0, $W0)
class TestMore(Base):
    def test_more(self): self.assertEqual($C1, $W1)
""")
_style("unittest with a mix-in")("""
import unittest
from solution import $F
class Mixin:
    def wanted(self): return $W0
    def test_mixed(self): self.assertEqual($C0, self.wanted())
class TestA(Mixin, unittest.TestCase): pass
class TestB(Mixin, unittest.TestCase):
    def test_own(self): self.assertEqual($C1, $W1)
""")
_style("unittest with parts of a case")("""
import unittest
from solution import $F
class TestIt(unittest.TestCase):
    def test_all(self):
        for got, wanted in [($C0, $W0), ($C1, $W1), ($C2, $W2)]:
            with self.subTest(wanted=wanted): self.assertEqual(got, wanted)
""")
_style("unittest with coroutines")("""
import unittest
from solution import $F
class TestIt(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self): self.got = $C0
    async def test_first(self): self.assertEqual(self.got, $W0)
    def test_second(self): self.assertEqual($C1, $W1)
""")
_style("unittest with skips and expected failures")("""
import sys, unittest
from solution import $F
class TestIt(unittest.TestCase):
    def test_first(self): self.assertEqual($C0, $W0)
    @unittest.skip('not yet')
    def test_later(self): self.assertEqual($C1, None)
    @unittest.skipIf(sys.version_info < (3, 0), 'old')
    def test_new(self): self.assertEqual($C1, $W1)
    @unittest.expectedFailure
    def test_odd(self): self.assertEqual(1, 2)
@unittest.skip('all of them')
class TestNone(unittest.TestCase):
    def test_never(self): self.fail()
""")
_style("unittest with clean-ups")("""
import unittest
from solution import $F
class TestIt(unittest.TestCase):
    def setUp(self):
        self.calls = []
        self.addCleanup(self.calls.append, 1)
    def test_first(self):
        self.addCleanup(lambda: self.assertEqual($C0, $W0))
    def test_second(self): self.assertEqual($C1, $W1)
""")
_style("unittest with runTest")("""
import unittest
from solution import $F
class One(unittest.TestCase):
    def runTest(self): self.assertEqual($C0, $W0)
""")
_style("unittest with patches")("""
import unittest
from unittest import mock
from solution import $F
class TestIt(unittest.TestCase):
    @mock.patch('os.getcwd', return_value='/x')
    def test_patched(self, getcwd): self.assertEqual($C0, $W0)
    def test_called(self):
        seen = mock.Mock()
        seen($C1)
        seen.assert_called_once_with($W1)
""")
_style("unittest and functions in one module")("""
import unittest
from solution import $F
class TestIt(unittest.TestCase):
    def test_third(self): self.assertEqual($C2, $W2)
def test_first(): assert $C0 == $W0
def test_second(): assert $C1 == $W1
""")
_style("unittest with an imported alias")("""
from unittest import TestCase as Case
from solution import $F
class TestIt(Case):
    def test_first(self): self.assertEqual($C0, $W0)
def test_second(): assert $C1 == $W1
""")
_style("unittest with methods added later")("""
import unittest
from solution import $F
class TestIt(unittest.TestCase): pass
for number, (got, wanted) in enumerate([($C0, $W0), ($C1, $W1)]):
    setattr(TestIt, f'test_{number}', lambda self, got=got, wanted=wanted: self.assertEqual(got, wanted))
""")
_style("inherited methods")("""
from solution import $F
class Base:
    def test_base(self): assert $C0 == self.wanted
class TestA(Base): wanted = $W0
class TestB(Base):
    wanted = $W0
    def test_more(self): assert $C1 == $W1
""")
_style("a method of the base that is replaced")("""
from solution import $F
class Base:
    def test_one(self): raise RuntimeError('replaced')
class TestA(Base):
    def test_one(self): assert $C0 == $W0
""")
_style("a class with a constructor")("""
from solution import $F
class TestHelper:
    def __init__(self, x): self.x = x
    def test_never(self): raise RuntimeError
def test_first(): assert TestHelper($C0).x == $W0
""")
_style("names used twice")("""
from solution import $F
def test_one(): raise RuntimeError('replaced')
def test_one(): assert $C0 == $W0
class TestA:
    def test_one(self): raise RuntimeError('replaced')
class TestA:
    def test_two(self): assert $C1 == $W1
""")
_style("constants that look like tests")("""
from solution import $F
test_data = [($C0, $W0), ($C1, $W1)]
TEST = 3
class TestData:
    rows = ['a']
def test_all():
    for got, wanted in test_data: assert got == wanted
""")
_style("a function of another name")("""
from solution import $F
def check(): assert $C0 == $W0
test_alias = check
def testing(): assert $C1 == $W1
""")
_style("methods that need no object")("""
from solution import $F
class TestIt:
    @staticmethod
    def test_static(): assert $C0 == $W0
    @classmethod
    def test_class(cls): assert $C1 == $W1
""")
_style("nested classes")("""
from solution import $F
class TestOuter:
    class TestInner:
        def test_inner(self): assert $C0 == $W0
    def test_outer(self): assert $C1 == $W1
""")
_style("conditions")("""
import sys
from solution import $F
if sys.version_info >= (3, 8):
    def test_first(): assert $C0 == $W0
else:
    def test_old(): raise RuntimeError
try:
    import no_such_package
except ImportError:
    def test_second(): assert $C1 == $W1
""")
_style("cases in a loop over globals")("""
from solution import $F
def made(got, wanted):
    def inner(): assert got == wanted
    return inner
for number, pair in enumerate([($C0, $W0), ($C1, $W1)]):
    globals()[f'test_{number}'] = made(*pair)
def test_last(): assert $C2 == $W2
""")
_style("not to be collected")("""
from solution import $F
class TestNot:
    __test__ = False
    def test_never(self): raise RuntimeError
def test_first(): assert $C0 == $W0
""")
_style("a case with a default")("""
from solution import $F
def test_first(wanted=$W0): assert $C0 == wanted
""")
_style("a case that is deleted")("""
from solution import $F
def test_never(): raise RuntimeError
del test_never
def test_first(): assert $C0 == $W0
""")
_style("setup_method")("""
from solution import $F
class TestIt:
    def setup_method(self): self.got = $C0
    def teardown_method(self): del self.got
    def test_first(self): assert self.got == $W0
    def test_second(self): assert $C1 == $W1
""")
_style("an inherited setup_method")("""
from solution import $F
class Base:
    def setup_method(self, method): self.got = $C0
class TestIt(Base):
    def test_first(self): assert self.got == $W0
""")
_style("setup_class and setup_function")("""
from solution import $F
STATE = []
def setup_function(function): STATE[:] = [$C1]
class TestIt:
    @classmethod
    def setup_class(cls): cls.got = $C0
    def test_first(self): assert self.got == $W0
def test_second(): assert STATE == [$W1]
""")
_style("setup_module")("""
from solution import $F
def setup_module(module): module.GOT = $C0
def teardown_module(): pass
def test_first(): assert GOT == $W0
""")
_style("fixtures")("""
import pytest
from solution import $F
@pytest.fixture
def got(): return $C0
@pytest.fixture(autouse=True)
def before():
    yield
    assert $C2 == $W2
def test_first(got): assert got == $W0
class TestIt:
    @pytest.fixture
    def more(self, got): return [got, $C1]
    def test_second(self, more): assert more == [$W0, $W1]
""")
_style("parameters")("""
import pytest
from solution import $F
@pytest.mark.parametrize('got, wanted', [($C0, $W0), ($C1, $W1), pytest.param($C2, $W2, id='last')])
def test_all(got, wanted): assert got == wanted
""")
_style("parameters of parameters")("""
import pytest
from solution import $F
@pytest.mark.parametrize('x', [0, 1])
class TestIt:
    @pytest.mark.parametrize('y', [2, 3])
    def test_first(self, x, y): assert ($C0, x < y) == ($W0, True)
""")
_style("marks")("""
import pytest
from solution import $F
pytestmark = pytest.mark.filterwarnings('ignore')
@pytest.mark.skip
def test_never(): assert False
@pytest.mark.xfail(reason='known')
def test_odd(): assert $C1 is test_odd
@pytest.mark.skipif(True, reason='never')
class TestNever:
    def test_it(self): assert False
def test_first(): assert $C0 == $W0
""")
_style("raises and approx")("""
import pytest
import solution
def test_refused():
    with pytest.raises(ValueError) as caught: solution.$R
    assert str(caught.value)
def test_first(): assert [solution.$C0] == [$W0]
""")
_style("capsys, tmp_path and monkeypatch")("""
from solution import $F
def test_printed(capsys):
    print($C0)
    assert capsys.readouterr().out == str($W0) + '\\n'
def test_written(tmp_path):
    (tmp_path / 'a.txt').write_text(repr($C1))
    assert (tmp_path / 'a.txt').read_text() == repr($W1)
def test_patched(monkeypatch):
    monkeypatch.setenv('LEVEL', '3')
    assert $C2 == $W2
""")
_style("unittest with fixtures of pytest")("""
import pytest, unittest
from solution import $F
class TestIt(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def before(self): self.got = $C0
    def test_first(self): self.assertEqual(self.got, $W0)
""")
