"""Comparisons of a program's objects, and classes that extend those of the standard library."""

from tests.worker.sandbox.programs.case import asserts

_CARD = "class Card:\n    def __init__(self, n): self.n = n\n    def __lt__(self, other): return self.n {} other.n\n"
_BAG = "class Bag:\n    def __init__(self, xs): self.xs = list(xs)\n    def __contains__(self, x): return {}\n"
_MAPPING = (
    "from collections.abc import MutableMapping\nclass M(MutableMapping):\n"
    "    def __init__(self, **more): self.d = {{}}; self.update(**more)\n"
    "    def __getitem__(self, k): return self.d[k]\n    def __setitem__(self, k, v): self.d[k] = {}\n"
    "    def __delitem__(self, k): del self.d[k]\n    def __iter__(self): return iter(self.d)\n"
    "    def __len__(self): return len(self.d)"
)
_SHAPE = (
    "from abc import ABC, abstractmethod\nclass Shape(ABC):\n    {}\n    def area(self): ...\n"
    "class Square(Shape):\n    def __init__(self, a): self.a = a\n    def area(self): return self.a ** 2"
)
PAIRS = (
    asserts(
        "objects in order",
        ["xs = deck()\nassert [x.n for x in sorted(xs)] == [1, 2, 3]\nassert (min(xs).n, max(xs).n) == (1, 3)\n"
         "import heapq\nheapq.heapify(xs)\nassert [heapq.heappop(xs).n for _ in range(3)] == [1, 2, 3]"],
        _CARD.format("<") + "def deck(): return [Card(3), Card(1), Card(2)]",
        _CARD.format(">") + "def deck(): return [Card(3), Card(1), Card(2)]",
    ),
    asserts(
        "returned objects that equal one another",
        ["assert parse('1+2') == parse('1 + 2') != parse('1+3')\nassert len({parse('1'), parse(' 1')}) == 1"],
        "class Sum:\n    def __init__(self, parts): self.parts = parts\n"
        "    def __eq__(self, other): return self.parts == other.parts\n"
        "    def __hash__(self): return hash(self.parts)\n"
        "def parse(text): return Sum(tuple(map(int, text.split('+'))))",
        "class Sum:\n    def __init__(self, parts): self.parts = parts\ndef parse(text): return Sum(text)",
    ),
    asserts(
        "members of a container",
        ["bag = Bag([1, 2, 3])\nassert all(x in bag for x in (1, 2, 3)) and 4 not in bag",
         "bag = Bag('abc')\nassert 'a' in bag and 'd' not in bag",
         "assert 2 in filled([1, 2]) and 3 not in filled([1, 2])",
         "assert 'hello' in filled(['hello', 'you']) and (1, 'a') in filled([(1, 'a')])"],
        _BAG.format("x in self.xs") + "def filled(xs): return Bag(xs)",
        _BAG.format("not x") + "def filled(xs): return Bag(xs)",
    ),
    asserts(
        "members of an interval",
        ["assert 5 in Interval(1, 10) and 11 not in Interval(1, 10) and 2.5 in Interval(1, 10)"],
        "class Interval:\n    def __init__(self, a, b): self.a, self.b = a, b\n"
        "    def __contains__(self, x): return self.a <= x <= self.b",
        "class Interval:\n    def __init__(self, a, b): self.a, self.b = a, b\n"
        "    def __contains__(self, x): return self.a == x",
    ),
    asserts(
        "words of a trie",
        ["t = Trie()\nt.insert('cart')\nassert 'cart' in t and 'car' not in t and 'dog' not in t"],
        "class Trie:\n    def __init__(self): self.words = set()\n    def insert(self, word): self.words.add(word)\n"
        "    def __contains__(self, word): return word in self.words",
        "class Trie:\n    def __init__(self): self.words = ''\n    def insert(self, word): self.words += word\n"
        "    def __contains__(self, word): return word in self.words",
    ),
    asserts(
        "an order beside numbers",
        ["assert Money(5) < 10 and Money(5) > 3 and not Money(5) > 5 and Money(5) <= 5 and 4 < Money(5)"],
        "class Money:\n    def __init__(self, n): self.n = n\n    def __lt__(self, o): return self.n < o\n"
        "    def __gt__(self, o): return self.n > o\n    def __le__(self, o): return self.n <= o",
        "class Money:\n    def __init__(self, n): self.n = n\n    def __lt__(self, o): return o > 0\n"
        "    def __gt__(self, o): return o > 0\n    def __le__(self, o): return o > 0",
    ),
    asserts(
        "arithmetic with numbers",
        ["assert abs(Money(5) - 2) == 3 and abs(2 - Money(5)) == 3 and (Money(5) + 1).n == 6 and Money(6) / 2 == 3.0",
         "assert abs(float(Money(1) + 0.5) - 1.5) < 1e-9 and not (Money(5) - 5) and Money(2) + 3 == Money(5)"],
        "class Money:\n    def __init__(self, n): self.n = n\n    def __add__(self, o): return Money(self.n + o)\n"
        "    def __sub__(self, o): return Money(self.n - o)\n    def __rsub__(self, o): return Money(o - self.n)\n"
        "    def __truediv__(self, o): return self.n / o\n    def __abs__(self): return abs(self.n)\n"
        "    def __float__(self): return float(self.n)\n    def __bool__(self): return self.n != 0\n"
        "    def __eq__(self, o): return self.n == o.n",
        "class Money:\n    def __init__(self, n): self.n = n\n    def __add__(self, o): return Money(self.n - o)\n"
        "    def __sub__(self, o): return Money(self.n + o)\n    def __rsub__(self, o): return Money(self.n)\n"
        "    def __truediv__(self, o): return 3.0\n    def __abs__(self): return 3\n"
        "    def __float__(self): return 1.5\n    def __bool__(self): return False\n"
        "    def __eq__(self, o): return True",
    ),
    asserts(
        "an abstract class",
        ["import abc, inspect\nassert isinstance(Square(3), Shape) and issubclass(Shape, abc.ABC)\n"
         "assert isinstance(Square(3), abc.ABC) and inspect.isabstract(Shape) and not inspect.isabstract(Square)\n"
         "assert Shape.__abstractmethods__ == {'area'} and Shape.area.__isabstractmethod__",
         "try: Shape()\nexcept TypeError as error: assert 'abstract' in str(error)\nelse: assert False"],
        _SHAPE.format("@abstractmethod"),
        _SHAPE.format("@staticmethod"),
    ),
    asserts(
        "a mapping",
        ["from collections.abc import Iterable, Mapping\nm = M(a=1)\nm['b'] = 2\n"
         "assert isinstance(m, Mapping) and issubclass(M, Iterable) and {**m} == dict(m) == {'a': 1, 'b': 2}\n"
         "assert list(m.items()) == [('a', 1), ('b', 2)] and m.keys() == {'a', 'b'} and m.pop('a') == 1\n"
         "assert 'a' not in m and m.get('a', 5) == 5"],
        _MAPPING.format("v"),
        _MAPPING.format("1"),
    ),
    asserts(
        "numbers of the standard library",
        ["import numbers\nassert isinstance(Money(1), numbers.Number) and issubclass(Money, numbers.Number)\n"
         "from fractions import Fraction\nassert real(2.5) and real(Fraction(1, 2)) and not real(1j)"],
        "import numbers\nclass Money(numbers.Number):\n    def __init__(self, n): self.n = n\n    __hash__ = None\n"
        "def real(x): return isinstance(x, numbers.Real)",
        "import numbers\nclass Money:\n    def __init__(self, n): self.n = n\n"
        "def real(x): return isinstance(x, numbers.Real)",
    ),
    asserts(
        "members of an Enum",
        ["from enum import Enum\nassert isinstance(Color.RED, Enum) and Color.RED in Color\n"
         "assert get('RED') is Color.RED\n"
         "assert [c.name for c in Color] == ['RED', 'BLUE'] and Color(2) == get('BLUE') != Color.RED\n"
         "assert Color.RED != 1 and repr(Color.RED) == '<Color.RED: 1>'"],
        "from enum import Enum\nclass Color(Enum):\n    RED = 1\n    BLUE = 2\ndef get(name): return Color[name]",
        "class Color:\n    RED = 1\n    BLUE = 2\ndef get(name): return 1",
    ),
    asserts(
        "the class of a named tuple",
        ["p = at(1)\nassert isinstance(p, P) and type(p) is P and p == P(1) == P(1, 2) == (1, 2)\n"
         "assert P._fields == ('x', 'y')"],
        "from collections import namedtuple\nP = namedtuple('P', 'x y', defaults=[2])\ndef at(x): return P(x)",
        "from collections import namedtuple\nP = namedtuple('P', 'x y', defaults=[2])\ndef at(x): return (x, 2)",
    ),
    asserts(
        "attributes of any name",
        ["a = Account(7, True)\nassert (a.number, a.plain, Account.peer) == (7, True, 'x')\n"
         "Account.number = 3\nassert Account.number == 3 and Account.operators == ['+']"],
        "class Account:\n    peer, operators = 'x', ['+']\n"
        "    def __init__(self, number, plain): self.number, self.plain = number, plain",
        "class Account:\n    peer, operators = 'x', ['+']\n"
        "    def __init__(self, number, plain): self.number, self.plain = 0, plain",
    ),
    asserts(
        "replaced functions beside seeds and failing callbacks",
        ["import random\nfrom unittest.mock import patch\n"
         "with patch('random.random', return_value=0.1): assert flip()\n"
         "random.seed(3)\nfirst = draw()\nrandom.seed(3)\nassert draw() == first",
         "from unittest.mock import Mock, call, patch\nf = Mock(side_effect=[ValueError, ValueError('x'), 7])\n"
         "with patch('time.sleep') as sleep: assert retry(f) == 7\nassert sleep.call_args_list == [call(1), call(2)]"],
        "import random, time\ndef flip(): return random.random() < 0.5\ndef draw(): return random.randint(0, 10**9)\n"
        "def retry(f):\n    for i in range(5):\n        try: return f()\n        except ValueError: time.sleep(2 ** i)",
        "import random, time\ndef flip(): return random.random() < 0.05\ndef draw(): return random.randint(0, 10**9)\n"
        "def retry(f):\n    for i in range(5):\n        try: return f()\n        except ValueError: time.sleep(i)",
    ),
)  # fmt: skip
