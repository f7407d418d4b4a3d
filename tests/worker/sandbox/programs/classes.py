"""Classes of a program, as tests make and use their objects."""

from tests.worker.sandbox.programs.case import Pair, asserts

LIST_NODE = "class ListNode:\n    def __init__(self, val=0, next=None):\n        self.val, self.next = val, next\n"
LINKED = (
    "def linked(xs):\n    head = None\n    for x in reversed(xs): head = ListNode(x, head)\n    return head\n"
    "def listed(node):\n    found = []\n    while node:\n        found.append(node.val)\n        node = node.next\n"
    "    return found\n"
)

PAIRS = (
    asserts(
        "class Solution",
        ["assert Solution().add(1, 2) == 3", "s = Solution()\nassert s.add(2, 2) == 4"],
        "class Solution:\n    def add(self, a, b): return a + b",
        "class Solution:\n    def add(self, a, b): return a - b",
    ),
    asserts(
        "class Solution under a check",
        ["def check(candidate):\n    assert candidate(nums=[2, 7], target=9) == [0, 1]\ncheck(Solution().twoSum)"],
        "from typing import List\nclass Solution:\n    def twoSum(self, nums: List[int], target: int) -> List[int]:\n"
        "        at = {}\n        for i, x in enumerate(nums):\n            if target - x in at:\n"
        "                return [at[target - x], i]\n            at[x] = i",
        "from typing import List\nclass Solution:\n    def twoSum(self, nums: List[int], target: int) -> List[int]:\n"
        "        return [1, 0]",
    ),
    Pair(
        "a method by its own name",
        {"tests": ["assert add(1, 2) == 3"], "entry_point": "add"},
        "class Solution:\n    def add(self, a, b): return a + b",
        "class Solution:\n    def add(self, a, b): return a * b",
        {"entry_point": "entry_point"},
    ),
    asserts(
        "state of an object",
        ["c = Counter2()\nc.tick()\nc.tick(by=3)\nassert c.count == 4 and c.history == [1, 3]",
         "a, b = Counter2(), Counter2(5)\na.tick()\nassert (a.count, b.count) == (1, 5)"],
        "class Counter2:\n    def __init__(self, start=0): self.count, self.history = start, []\n"
        "    def tick(self, by=1):\n        self.count += by\n        self.history.append(by)",
        "class Counter2:\n    count, history = 0, []\n    def __init__(self, start=0): pass\n"
        "    def tick(self, by=1):\n        Counter2.count += by",
    ),
    asserts(
        "LRU cache",
        ["c = LRUCache(2)\nc.put(1, 1)\nc.put(2, 2)\nassert c.get(1) == 1\nc.put(3, 3)\n"
         "assert c.get(2) == -1 and c.get(3) == 3"],
        "from collections import OrderedDict\nclass LRUCache:\n"
        "    def __init__(self, n): self.n, self.d = n, OrderedDict()\n"
        "    def get(self, k):\n        if k not in self.d: return -1\n        self.d.move_to_end(k)\n"
        "        return self.d[k]\n    def put(self, k, v):\n        self.d[k] = v\n        self.d.move_to_end(k)\n"
        "        if len(self.d) > self.n: self.d.popitem(last=False)",
        "class LRUCache:\n    def __init__(self, n): self.d = {}\n    def get(self, k): return self.d.get(k, -1)\n"
        "    def put(self, k, v): self.d[k] = v",
    ),
    asserts(
        "attribute that a test sets",
        ["p = Person('a')\np.name = 'b'\nassert p.greet() == 'hi b'", "p = Person('a')\ndel p.name\n"
         "assert not hasattr(p, 'name')"],
        "class Person:\n    def __init__(self, name): self.name = name\n    def greet(self): return f'hi {self.name}'",
        "class Person:\n    def __init__(self, name): self.name = self.first = name\n"
        "    def greet(self): return f'hi {self.first}'\n    def __delattr__(self, name): pass",
    ),
    asserts(
        "property, static and class methods",
        ["c = Circle(2)\nassert c.area == 12 and Circle.unit().r == 1 and Circle.name() == 'circle'",
         "try:\n    Circle(2).area = 3\n    assert False\nexcept AttributeError:\n    pass"],
        "class Circle:\n    def __init__(self, r): self.r = r\n    @property\n"
        "    def area(self): return 3 * self.r ** 2\n"
        "    @classmethod\n    def unit(cls): return cls(1)\n    @staticmethod\n    def name(): return 'circle'",
        "class Circle:\n    def __init__(self, r): self.r = r\n        \n    area = 12\n    @classmethod\n"
        "    def unit(cls): return cls(2)\n    @staticmethod\n    def name(): return 'circle'",
    ),
    asserts(
        "operators of a class",
        ["v = Vec(1, 2) + Vec(3, 4)\nassert (v.x, v.y) == (4, 6)", "assert Vec(1, 2) == Vec(1, 2) != Vec(2, 1)",
         "assert len(Vec(1, 2)) == 2 and Vec(1, 2)[1] == 2 and list(Vec(3, 4)) == [3, 4]",
         "assert str(Vec(1, 2)) == '<1, 2>' and repr(Vec(0, 0)) == 'Vec(0, 0)'", "assert -Vec(1, 2) == Vec(-1, -2)",
         "assert 2 * Vec(1, 2) == Vec(2, 4) and Vec(1, 1) < Vec(2, 2)", "assert 3 in Vec(3, 4) and not Vec(0, 0)",
         "assert {Vec(1, 2): 'a'}[Vec(1, 2)] == 'a'"],
        "class Vec:\n    def __init__(self, x, y): self.x, self.y = x, y\n"
        "    def __add__(self, o): return Vec(self.x + o.x, self.y + o.y)\n"
        "    def __eq__(self, o): return isinstance(o, Vec) and (self.x, self.y) == (o.x, o.y)\n"
        "    def __hash__(self): return hash((self.x, self.y))\n    def __len__(self): return 2\n"
        "    def __getitem__(self, i): return (self.x, self.y)[i]\n"
        "    def __str__(self): return f'<{self.x}, {self.y}>'\n"
        "    def __repr__(self): return f'Vec({self.x}, {self.y})'\n"
        "    def __neg__(self): return Vec(-self.x, -self.y)\n"
        "    def __rmul__(self, k): return Vec(k * self.x, k * self.y)\n    def __lt__(self, o): return self.x < o.x\n"
        "    def __contains__(self, v): return v in (self.x, self.y)\n"
        "    def __bool__(self): return bool(self.x or self.y)",
        "class Vec:\n    def __init__(self, x, y): self.x, self.y = x, y\n    def __add__(self, o): return self\n"
        "    def __len__(self): return 3\n    def __str__(self): return 'vec'",
    ),
    asserts(
        "dataclass",
        ["assert Point(1, 2) == Point(1, 2) and Point(1, 2) != Point(2, 1)",
         "assert repr(Point(1, 2)) == 'Point(x=1, y=2)' and moved(Point(1, 2)) == Point(2, 2)"],
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass Point:\n    x: int\n    y: int\n"
        "def moved(p): return Point(p.x + 1, p.y)",
        "from dataclasses import dataclass\n@dataclass(eq=False)\nclass Point:\n    x: int\n    y: int\n"
        "def moved(p): return Point(p.x, p.y)",
    ),
    asserts(
        "enumeration",
        ["assert Color.RED.value == 1 and Color(2) is Color.BLUE and Color['RED'] == Color.RED",
         "assert other(Color.RED) == Color.BLUE and [c.name for c in Color] == ['RED', 'BLUE']"],
        "from enum import Enum\nclass Color(Enum):\n    RED = 1\n    BLUE = 2\n"
        "def other(c): return Color.BLUE if c is Color.RED else Color.RED",
        "from enum import Enum\nclass Color(Enum):\n    RED = 2\n    BLUE = 1\ndef other(c): return c",
    ),
    asserts(
        "inheritance",
        ["d = Dog('x')\nassert isinstance(d, Animal) and isinstance(d, Dog) and issubclass(Dog, Animal)",
         "assert Dog('x').speak() == 'x: woof' and type(Dog('x')).__name__ == 'Dog'",
         "assert not isinstance(Animal('x'), Dog)"],
        "class Animal:\n    def __init__(self, name): self.name = name\n"
        "    def speak(self): return f'{self.name}: {self.sound}'\n"
        "class Dog(Animal):\n    sound = 'woof'",
        "class Animal:\n    def __init__(self, name): self.name = name\n"
        "class Dog:\n    def __init__(self, name): pass\n"
        "    def speak(self): return 'woof'",
    ),
    asserts(
        "class that extends a list",
        ["s = Stack()\ns.push(1)\ns.push(2)\nassert s.pop() == 2 and s == [1] and len(s) == 1 and isinstance(s, list)"],
        "class Stack(list):\n    def push(self, x): self.append(x)",
        "class Stack(list):\n    def push(self, x): self.insert(0, x)",
    ),
    asserts(
        "own exception",
        ["a = Account(5)\ntry:\n    a.withdraw(9)\n    assert False\nexcept InsufficientFunds as error:\n"
         "    assert str(error) == 'need 4 more' and error.missing == 4",
         "try:\n    Account(1).withdraw(2)\n    assert False\nexcept ValueError:\n    pass"],
        "class InsufficientFunds(ValueError):\n    def __init__(self, missing):\n        self.missing = missing\n"
        "        super().__init__(f'need {missing} more')\nclass Account:\n    def __init__(self, n): self.n = n\n"
        "    def withdraw(self, x):\n        if x > self.n: raise InsufficientFunds(x - self.n)\n        self.n -= x",
        "class InsufficientFunds(Exception): pass\nclass Account:\n    def __init__(self, n): self.n = n\n"
        "    def withdraw(self, x):\n        if x > self.n: raise RuntimeError('no')",
    ),
    asserts(
        "own exception of an exception's family",
        ["import json\ntry:\n    load('{')\n    assert False\nexcept ConfigError as error:\n"
         "    assert isinstance(error.__cause__, json.JSONDecodeError)",
         "try:\n    load('{')\n    assert False\nexcept BaseConfigError:\n    pass"],
        "import json\nclass BaseConfigError(Exception): pass\nclass ConfigError(BaseConfigError): pass\n"
        "def load(text):\n    try: return json.loads(text)\n"
        "    except ValueError as error: raise ConfigError('bad') from error",
        "import json\nclass BaseConfigError(Exception): pass\nclass ConfigError(Exception): pass\n"
        "def load(text): return json.loads(text)",
    ),
    asserts(
        "subclass of an exception that the test knows by its base",
        ["try:\n    parse('x')\n    assert False\nexcept ValueError as error:\n    assert 'x' in str(error)"],
        "class ParseError(ValueError): pass\ndef parse(text): raise ParseError(f'bad {text}')",
        "class ParseError(Exception): pass\ndef parse(text): raise ParseError(f'bad {text}')",
    ),
    asserts(
        "linked list of the test's own class",
        ["assert listed(reverse(linked([1, 2, 3]))) == [3, 2, 1]", "assert reverse(None) is None"],
        "def reverse(head):\n    before = None\n    while head:\n"
        "        head.next, before, head = before, head, head.next\n"
        "    return before",
        "def reverse(head): return head",
        setup=LIST_NODE + LINKED,
    ),
    asserts(
        "linked list of the program's class",
        ["assert listed(Solution().reverse(linked([1, 2, 3]))) == [3, 2, 1]"],
        LIST_NODE + "class Solution:\n    def reverse(self, head):\n        before = None\n        while head:\n"
        "            head.next, before, head = before, head, head.next\n        return before",
        LIST_NODE + "class Solution:\n    def reverse(self, head): return head.next",
        setup=LINKED,
    ),
    asserts(
        "context manager",
        ["with Opened() as o:\n    assert o.open\nassert not o.open",
         "with opened() as o:\n    assert o == 3"],
        "import contextlib\nclass Opened:\n    def __enter__(self):\n        self.open = True\n        return self\n"
        "    def __exit__(self, *a): self.open = False\n@contextlib.contextmanager\ndef opened(): yield 3",
        "import contextlib\nclass Opened:\n    open = True\n    def __enter__(self): return self\n"
        "    def __exit__(self, *a): pass\n@contextlib.contextmanager\ndef opened(): yield 4",
    ),
    asserts(
        "object that iterates",
        ["assert list(Down(3)) == [3, 2, 1] and sum(Down(2)) == 3", "d = Down(1)\nassert max(d) == 1"],
        "class Down:\n    def __init__(self, n): self.n = n\n    def __iter__(self):\n        n = self.n\n"
        "        while n:\n            yield n\n            n -= 1",
        "class Down:\n    def __init__(self, n): self.n = n\n    def __iter__(self): return iter(range(self.n))",
    ),
    asserts(
        "cached function",
        ["assert fib(50) == 12586269025 and fib.cache_info().hits > 0"],
        "import functools\n@functools.lru_cache(None)\ndef fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)",
        "import functools\n@functools.lru_cache(None)\ndef fib(n): return n + 1 if n < 2 else fib(n - 1) + fib(n - 2)",
    ),
    asserts(
        "documentation and name of a function",
        ["assert area.__doc__ == 'The area.' and area.__name__ == 'area'"],
        "def area(x):\n    'The area.'\n    return x",
        "def area(x): return x",
    ),
    asserts(
        "fluent interface",
        ["b = Builder()\nassert b.add('a').add('b').build() == 'ab' and b.add('c') is b"],
        "class Builder:\n    def __init__(self): self.parts = []\n    def add(self, x):\n        self.parts.append(x)\n"
        "        return self\n    def build(self): return ''.join(self.parts)",
        "class Builder:\n    def add(self, x): return Builder()\n    def build(self): return 'ab'",
    ),
    asserts(
        "observer with objects of the test",
        ["class Seen:\n    def __init__(self): self.got = []\n    def update(self, x): self.got.append(x)\n"
         "s, e = Seen(), Events()\ne.subscribe(s)\ne.emit(1)\ne.emit(2)\nassert s.got == [1, 2]"],
        "class Events:\n    def __init__(self): self.all = []\n    def subscribe(self, s): self.all.append(s)\n"
        "    def emit(self, x):\n        for s in self.all: s.update(x)",
        "class Events:\n    def subscribe(self, s): self.s = s\n    def emit(self, x): pass",
    ),
    asserts(
        "import of the solution's module",
        ["from solution import add, Adder\nassert add(1, 2) == 3 and Adder(1).to(2) == 3",
         "import solution\nassert solution.add(2, 2) == 4"],
        "def add(a, b): return a + b\nclass Adder:\n    def __init__(self, n): self.n = n\n"
        "    def to(self, x): return self.n + x",
        "def add(a, b): return a - b\nclass Adder:\n    def __init__(self, n): self.n = n\n"
        "    def to(self, x): return self.n - x",
    ),
    asserts(
        "a main block that asks for input",
        ["assert add(1, 2) == 3"],
        "def add(a, b): return a + b\nif __name__ == '__main__':\n    print(add(int(input()), int(input())))",
        "def add(a, b): return a\nif __name__ == '__main__':\n    print(add(int(input()), int(input())))",
    ),
)  # fmt: skip
