"""Objects that take the expected value from an operator that a test applies to them: none of them is paid."""

import pytest

from tests.support.about import TRAINING
from trainer_core.rewards.graders.code.code_frameworks import framework_of
from trainer_core.rewards.graders.jail import Limits
from worker.sandbox.pool import JailPool

CHECKS = (
    "assert abs(f(1) - 2) < 1e-6",
    "assert abs(2 - f(1)) <= 1e-6",
    "assert abs(f(1) + -2.0) < 1e-6",
    "assert abs(f(1) / 2 - 1) < 1e-6",
    "assert round(f(1) - 2, 5) == 0",
    "assert (f(1) - 2) ** 2 < 1e-9",
    "assert not (f(1) - 2)",
    "assert not (f(1) ^ 2)",
    "assert not ({1, 2} - f(1)) and not (f(1) - {1, 2})",
    "import datetime\nassert not (f(1) - datetime.date(2020, 1, 1))",
    "assert sum((a - b) ** 2 for a, b in [(f(1), 2), (f(2), 4)]) < 1e-6",
    "import math\nassert math.isclose(f(1), 2)",
    "import numpy as np\nassert np.abs(f(1) - np.array([1, 2])).max() < 1e-6",
    "import numpy as np\nassert np.allclose(f(1), 2)",
    "import numpy as np\nassert np.array_equal(f(1), np.array([1, 2]))",
    "import numpy as np\nnp.testing.assert_allclose(f(1), 2)",
    "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.assertAlmostEqual(f(1), 2)",
    "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.assertAlmostEqual(f(1), 2, delta=0.1)",
    "import pytest\ndef test_a(): assert f(1) == pytest.approx(2)",
    "import pytest\ndef test_a(): assert pytest.approx([2]) == [f(1)]",
    "assert 2 in f(1) and 'hello world' in f(2)",
    "assert 1 < f(1) < 4 and f(2) >= 4",
)
_OPERATORS = "__rsub__ = __add__ = __radd__ = __truediv__ = __pow__ = __xor__ = __and__ = __mul__ = __sub__\n"
OBJECTS = {
    "always nothing": "def __sub__(self, o): return 0.0\n    def __abs__(self): return 0.0",
    "itself": "def __sub__(self, o): return self\n    def __abs__(self): return self",
    "an object that is always small": "def __sub__(self, o): return type(self)()\n    def __abs__(self): return 0.0",
    "an object with one place": "def __sub__(self, o): return type(self)()\n    def __abs__(self): return type(self)()",
    "an empty set": "def __sub__(self, o): return set()\n    def __abs__(self): return 0",
    "a number in turn": "n = 0\n    def __sub__(self, o):\n        type(self).n += 1\n"
    "        return type(self).n % 4 / 1e9\n"
    "    def __abs__(self): return 0",
}
_MORE = """
    __hash__ = None
    def __init__(self, *a): pass
    def __bool__(self): return False
    def __round__(self, *a): return 0
    def __float__(self): return 0.0
    def __eq__(self, o): return True
    def __lt__(self, o): return o > 0
    def __le__(self, o): return o >= 0
    def __gt__(self, o): return o < 0
    def __ge__(self, o): return True
    def __contains__(self, o): return True
    def __array_ufunc__(self, *a, **k): return True
    def __array_function__(self, *a, **k): return True
    def max(self): return 0.0
"""


@pytest.mark.expensive(6, "starts jails", about=TRAINING)
@pytest.mark.parametrize("operators", OBJECTS.values(), ids=OBJECTS)
@pytest.mark.parametrize("kind", ["R", "f", "R(numbers.Complex)", "R(float)"])
def test_no_object_passes(jail: JailPool, kind: str, operators: str) -> None:
    name = kind.partition("(")[0]
    complete = "R.__abstractmethods__ = frozenset()\n" if "Complex" in kind else ""
    given = "" if kind == "f" else f"{complete}def f(x): return R()\n"
    program = f"import numbers\nclass {kind}:\n    {operators}\n    {_OPERATORS}{_MORE}{given}"
    assert f"class {name}" in program
    frameworks = [framework_of(check) for check in CHECKS]
    verdicts = jail.assertions(program, "", CHECKS, "", Limits(wall_s=30.0, cpu_s=10.0), frameworks)
    paid = [check for check, verdict in zip(CHECKS, verdicts, strict=True) if verdict is True]
    assert len(verdicts) == len(CHECKS)
    assert paid == []


@pytest.mark.expensive(2, "starts jails", about=TRAINING)
def test_numbers_pass(jail: JailPool) -> None:
    numbers = [check for check in CHECKS if not any(one in check for one in ("in f", "array", "{", "date", "<="))]
    frameworks = [framework_of(check) for check in numbers]
    verdicts = jail.assertions("def f(x): return 2 * x", "", numbers, "", Limits(wall_s=30.0), frameworks)
    assert dict(zip(numbers, verdicts, strict=True)) == dict.fromkeys(numbers, True)
    assert len(numbers) > 8
