"""What a program and its tests share beyond arguments and results, as if they ran in one process."""

from tests.worker.sandbox.programs.case import asserts

PAIRS = (
    asserts(
        "builtins passed twice",
        ["import operator, math\nassert apply(abs, -1) == 1 and apply(abs, -2) == 2\n"
         "assert apply(math.sqrt, 4) == apply(math.sqrt, 4) == 2\n"
         "assert ordered(['bb', 'a'], key=len) == ['a', 'bb']\n"
         "assert ordered(['bb', 'a'], len) == ['a', 'bb']\n"
         "assert fold(operator.mul, 2, 3) + fold(operator.mul, 1, 1) == 7",
         "assert given(abs) is abs and given(len) is len"],
        "def apply(f, x): return f(x)\ndef ordered(xs, key): return sorted(xs, key=key)\n"
        "def fold(f, a, b): return f(a, b)\ndef given(f): return f",
        "def apply(f, x): return x\ndef ordered(xs, key): return sorted(xs)\ndef fold(f, a, b): return f(a, a)\n"
        "def given(f): return len",
    ),
    asserts(
        "a list of an object of the test",
        ["class Node:\n    def __init__(self): self.children, self.edges = [], {}\na, b = Node(), Node()\nlink(a, b)\n"
         "assert a.children == [b] and a.edges == {'next': [1, 2]} and not b.children"],
        "def link(a, b):\n    a.children.append(b)\n    a.edges['next'] = [1]\n    a.edges['next'].append(2)",
        "def link(a, b):\n    list(a.children).append(b)\n    b.children.append(a)",
    ),
    asserts(
        "a list of the program that the test changes",
        ["import solution\nsolution.ITEMS.append(1)\nassert count() == 1", "ITEMS.extend('ab')\nassert count() >= 2",
         "box = Box()\nseen = box.items\nbox.items.append(3)\nbox.add(4)\nassert box.total() == 7 and seen == [3, 4]"],
        "ITEMS = []\ndef count(): return len(ITEMS)\nclass Box:\n    def __init__(self): self.items = []\n"
        "    def add(self, x): self.items.append(x)\n    def total(self): return sum(self.items)",
        "ITEMS = []\ndef count(): return 0\nclass Box:\n    def __init__(self): self.items = []\n"
        "    def add(self, x): self.items = [x]\n    def total(self): return sum(self.items)",
    ),
    asserts(
        "a list that is given out",
        ["box = Box()\nbox.history().append(5)\nassert box.history() == [1]"],
        "class Box:\n    def __init__(self): self.seen = [1]\n    def history(self): return list(self.seen)",
        "class Box:\n    def __init__(self): self.seen = [1]\n    def history(self): return self.seen",
    ),
    asserts(
        "one row several times",
        ["g = grid(3)\ng[0][0] = 1\nassert [row[0] for row in g] == [1, 0, 0]", "x = same(2)\nassert x[0] is x[1]"],
        "def grid(n): return [[0] * n for _ in range(n)]\ndef same(n): return [[0]] * n",
        "def grid(n): return [[0] * n] * n\ndef same(n): return [[0] for _ in range(n)]",
    ),
    asserts(
        "functions of dataclasses",
        ["import dataclasses\nassert dataclasses.asdict(P(1)) == {'x': 1, 'y': None}\n"
         "assert dataclasses.astuple(P(1, [2])) == (1, [2]) and dataclasses.is_dataclass(P)\n"
         "assert [field.name for field in dataclasses.fields(P)] == ['x', 'y']\n"
         "assert dataclasses.replace(P(1), x=3).x == 3"],
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n    y: list = None",
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n    y: list = 0",
    ),
    asserts(
        "a list with methods",
        ["s = Stack([1, 2])\ns.append(3)\nassert s.peek() == 3 and s == [1, 2, 3]",
         "s = made()\nassert s.peek() == 2 and s == [1, 2] and isinstance(s, list)\ns.append(5)\nassert s.peek() == 5"],
        "class Stack(list):\n    def peek(self): return self[-1]\ndef made(): return Stack([1, 2])",
        "class Stack(list):\n    def peek(self): return self[0]\ndef made(): return Stack([1, 2])",
    ),
    asserts(
        "pickle of an object",
        ["import pickle\np = P(3)\nq = pickle.loads(pickle.dumps(p))\nassert q is not p and q == p and q.x == 3"],
        "class P:\n    def __init__(self, x): self.x = x\n    def __eq__(self, other): return self.x == other.x",
        "class P:\n    def __init__(self, x): self.x = x\n    def __getstate__(self): return {'x': 0}\n"
        "    def __eq__(self, other): return self.x == other.x",
    ),
    asserts(
        "names that the test defines for the program",
        ["import math\nBASE = 10\ndef helper(x): return 2 * x\nassert f(2) == 14 and g(4) == 2"],
        "def f(x): return helper(x) + BASE\ndef g(x): return math.sqrt(x)",
        "def f(x): return helper(x)\ndef g(x): return math.sqrt(x)",
    ),
    asserts(
        "the environment",
        ["import os\nos.environ['KEY'] = 'v'\nassert f() == 'v'\ndel os.environ['KEY']\nassert f() == 'no'\n"
         "from unittest.mock import patch\nwith patch.dict(os.environ, {'KEY': 'z'}): assert f() == 'z'\n"
         "assert f() == 'no'\ng()\nassert os.environ['OUT'] == '1'"],
        "import os\ndef f(): return os.environ.get('KEY', 'no')\ndef g(): os.environ['OUT'] = '1'",
        "import os\ndef f(): return 'v'\ndef g(): os.environ['OUT'] = '1'",
    ),
    asserts(
        "warnings",
        ["import unittest\nclass T(unittest.TestCase):\n    def test_it(self):\n"
         "        with self.assertWarns(DeprecationWarning): f()\n"
         "        with self.assertWarnsRegex(DeprecationWarning, 'old'): f()",
         "import warnings\nwith warnings.catch_warnings(record=True) as seen:\n    warnings.simplefilter('always')\n"
         "    f()\nassert len(seen) == 1 and 'old' in str(seen[0].message)"],
        "import warnings\ndef f(): warnings.warn('old', DeprecationWarning)",
        "import warnings\ndef f(): warnings.warn('new', UserWarning)",
    ),
    asserts(
        "log records",
        ["import unittest\nclass T(unittest.TestCase):\n    def test_it(self):\n"
         "        with self.assertLogs('x', level='INFO') as caught: f()\n"
         "        self.assertEqual(caught.output, ['INFO:x:hello w'])"],
        "import logging\nlog = logging.getLogger('x')\ndef f(): log.info('hello %s', 'w')",
        "import logging\nlog = logging.getLogger('x')\ndef f(): log.debug('hello %s', 'w')",
    ),
    asserts(
        "replaced functions of the standard library",
        ["from unittest.mock import patch\nwith patch('time.time', return_value=5): assert now() == 5\n"
         "assert now() > 5",
         "from unittest.mock import patch\n@patch('random.randint')\ndef run(randint):\n"
         "    randint.side_effect = [1, 2]\n"
         "    assert [roll(), roll()] == [1, 2]\n    randint.assert_called_with(1, 6)\nrun()",
         "from unittest.mock import mock_open, patch\n"
         "with patch('builtins.open', mock_open(read_data='abc')) as opened: assert read('x') == 'abc'\n"
         "opened.assert_called_once_with('x')"],
        "import random, time\ndef now(): return time.time()\ndef roll(): return random.randint(1, 6)\ndef read(path):\n"
        "    with open(path) as file: return file.read()",
        "def now(): return 5\ndef roll(): return 1\ndef read(path): return 'abc'",
    ),
    asserts(
        "members of an IntEnum",
        ["assert L.LOW == 1 and L.LOW < L.HIGH and L(1) is L.LOW and L.LOW + 1 == 2", "assert get() == 1 == L.LOW"],
        "from enum import IntEnum\nclass L(IntEnum):\n    LOW = 1\n    HIGH = 2\ndef get(): return L.LOW",
        "from enum import IntEnum\nclass L(IntEnum):\n    LOW = 3\n    HIGH = 2\ndef get(): return L.HIGH",
    ),
)  # fmt: skip
