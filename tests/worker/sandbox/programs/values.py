"""Values on their way from a program's functions to the tests."""

from tests.worker.sandbox.programs.case import asserts

PAIRS = (
    asserts(
        "Decimal",
        ["from decimal import Decimal\nassert half(Decimal('0.3')) == Decimal('0.15')\n"
         "assert type(half(Decimal(1))) is Decimal"],
        "from decimal import Decimal\ndef half(x): return x / 2",
        "def half(x): return float(x) / 2",
    ),
    asserts(
        "Fraction",
        ["from fractions import Fraction\nassert half(3) == Fraction(3, 2)", "assert half(3).numerator == 3"],
        "from fractions import Fraction\ndef half(x): return Fraction(x, 2)",
        "from fractions import Fraction\ndef half(x): return Fraction(x, 3)",
    ),
    asserts(
        "date and timedelta",
        ["from datetime import date, timedelta\nassert after(date(2024, 2, 28), 2) == date(2024, 3, 1)",
         "import datetime\nassert after(datetime.date(2023, 1, 1), 1) - datetime.date(2023, 1, 1) == "
         "datetime.timedelta(days=1)"],
        "from datetime import timedelta\ndef after(day, n): return day + timedelta(days=n)",
        "from datetime import timedelta\ndef after(day, n): return day - timedelta(days=n)",
    ),
    asserts(
        "datetime with a zone",
        ["from datetime import datetime, timezone\nassert utc(0) == datetime(1970, 1, 1, tzinfo=timezone.utc)\n"
         "assert utc(0).tzinfo is not None"],
        "from datetime import datetime, timezone\ndef utc(n): return datetime.fromtimestamp(n, timezone.utc)",
        "from datetime import datetime, timezone\ndef utc(n): return datetime.fromtimestamp(n + 1, timezone.utc)",
    ),
    asserts(
        "deque",
        ["from collections import deque\nassert turn([1, 2, 3]) == deque([3, 1, 2])",
         "d = turn([1, 2]); d.appendleft(9); assert list(d) == [9, 2, 1]"],
        "from collections import deque\ndef turn(x):\n    d = deque(x)\n    d.rotate(1)\n    return d",
        "def turn(x): return [x[-1]] + x[:-1]",
    ),
    asserts(
        "Counter and defaultdict",
        ["assert count('aab')['a'] == 2 and count('aab')['z'] == 0",
         "assert count('aab').most_common(1) == [('a', 2)]", "assert groups(['a', 'bb', 'c'])[1] == ['a', 'c']"],
        "from collections import Counter, defaultdict\ncount = lambda text: Counter(text)\ndef groups(words):\n"
        "    found = defaultdict(list)\n    for word in words: found[len(word)].append(word)\n    return found",
        "from collections import Counter, defaultdict\ncount = lambda text: dict(Counter(text))\n"
        "def groups(words): return {}",
    ),
    asserts(
        "named tuple",
        ["assert origin() == (0, 0) and origin().x == 0 and origin()._fields == ('x', 'y')"],
        "from collections import namedtuple\nPoint = namedtuple('Point', 'x y')\ndef origin(): return Point(0, 0)",
        "def origin(): return (0, 0)",
    ),
    asserts(
        "numpy array",
        ["import numpy as np\nassert np.array_equal(scaled(np.array([1, 2]), 2), np.array([2, 4]))",
         "import numpy as np\nassert scaled(np.ones((2, 2)), 3).shape == (2, 2)\n"
         "assert scaled(np.ones(2, dtype='float32'), 3).dtype == np.float32"],
        "import numpy as np\ndef scaled(x, k): return x * x.dtype.type(k)",
        "import numpy as np\ndef scaled(x, k): return x.astype('int64') + k",
    ),
    asserts(
        "numpy scalar",
        ["assert mean([1, 2, 3]) == 2.0", "assert round(mean([1, 2]), 1) == 1.5"],
        "import numpy as np\ndef mean(x): return np.mean(x)",
        "import numpy as np\ndef mean(x): return np.sum(x)",
    ),
    asserts(
        "coroutine",
        ["import asyncio\nassert asyncio.run(slow(4)) == 8",
         "import asyncio\nasync def both(): return await asyncio.gather(slow(1), slow(2))\n"
         "assert asyncio.run(both()) == [2, 4]"],
        "import asyncio\nasync def slow(x):\n    await asyncio.sleep(0)\n    return 2 * x",
        "import asyncio\nasync def slow(x):\n    await asyncio.sleep(0)\n    return x",
    ),
    asserts(
        "asynchronous generator",
        ["import asyncio\nasync def all_of(n): return [x async for x in count(n)]\n"
         "assert asyncio.run(all_of(3)) == [0, 1, 2]"],
        "async def count(n):\n    for x in range(n): yield x",
        "async def count(n):\n    for x in range(n): yield x + 1",
    ),
    asserts(
        "text of 5 MB",
        ["assert rows(5_000_000) == 'x' * 5_000_000"],
        "def rows(n): return 'x' * n",
        "def rows(n): return 'x' * (n - 1)",
    ),
    asserts(
        "bytes of 5 MB",
        ["assert rows(5_000_000) == bytes(5_000_000)"],
        "def rows(n): return bytes(n)",
        "def rows(n): return bytes(n + 1)",
    ),
    asserts(
        "list of a million numbers",
        ["assert up(1_000_000)[-1] == 999_999 and len(up(1_000_000)) == 1_000_000"],
        "def up(n): return list(range(n))",
        "def up(n): return list(range(n + 1))",
    ),
    asserts(
        "integer of many digits",
        ["import math\nassert factorial(2000) == math.factorial(2000)"],
        "def factorial(n):\n    found = 1\n    for k in range(2, n + 1): found *= k\n    return found",
        "def factorial(n):\n    found = 1\n    for k in range(2, n): found *= k\n    return found",
    ),
    asserts(
        "constant of the module",
        ["assert LIMIT == 10", "assert NAMES['a'] == 1 and 3 in ODD"],
        "LIMIT = 10\nNAMES = {'a': 1}\nODD = {1, 3}",
        "LIMIT = 11\nNAMES = {'a': 2}\nODD = {1}",
    ),
    asserts(
        "constant that functions change",
        ["tick(); tick()\nassert ticks == 2"],
        "ticks = 0\ndef tick():\n    global ticks\n    ticks += 1",
        "ticks = 0\ndef tick():\n    ticks = 1",
    ),
    asserts(
        "callback",
        ["assert apply(lambda x: x + 1, [1, 2]) == [2, 3]", "assert apply(str, [1]) == ['1']",
         "import math\nassert apply(math.sqrt, [4.0]) == [2.0]"],
        "def apply(f, x): return [f(y) for y in x]",
        "def apply(f, x): return [f(f(y)) for y in x]",
    ),
    asserts(
        "callback that keeps what it is told",
        ["seen = []\nvisit([1, [2, 3]], seen.append)\nassert seen == [1, 2, 3]"],
        "def visit(x, f):\n    for y in x:\n        visit(y, f) if isinstance(y, list) else f(y)",
        "def visit(x, f):\n    for y in x:\n        f(y)",
    ),
    asserts(
        "callback that fails",
        ["def boom(): raise ValueError('no')\nassert safely(boom) == 'ValueError: no'",
         "class Odd(Exception): pass\ndef odd(): raise Odd('1')\n"
         "try:\n    plainly(odd)\n    assert False\nexcept Odd as error:\n    assert str(error) == '1'"],
        "def safely(f):\n    try: return f()\n    except ValueError as error: return f'ValueError: {error}'\n"
        "def plainly(f): return f()",
        "def safely(f): return f()\ndef plainly(f): raise ValueError",
    ),
    asserts(
        "key and comparison functions",
        ["assert ordered(['bb', 'a'], key=len) == ['a', 'bb']",
         "assert ordered([1, 3, 2], key=lambda x: -x) == [3, 2, 1]"],
        "def ordered(x, key): return sorted(x, key=key)",
        "def ordered(x, key): return sorted(x)",
    ),
    asserts(
        "decorator",
        ["calls = []\n@twice\ndef hello(name):\n    calls.append(name)\n    return name.upper()\n"
         "assert hello('a') == 'A' and calls == ['a', 'a']"],
        "import functools\ndef twice(f):\n    @functools.wraps(f)\n    def inner(*a, **k):\n        f(*a, **k)\n"
        "        return f(*a, **k)\n    return inner",
        "def twice(f): return f",
    ),
    asserts(
        "function that returns a function",
        ["add5 = adder(5)\nassert add5(3) == 8 and adder(1)(1) == 2", "assert callable(adder(1))"],
        "def adder(n): return lambda x: x + n",
        "def adder(n): return lambda x: x - n",
    ),
    asserts(
        "asynchronous callback",
        ["import asyncio\nasync def one(x): return x + 1\nassert asyncio.run(each(one, [1, 2])) == [2, 3]"],
        "async def each(f, xs): return [await f(x) for x in xs]",
        "async def each(f, xs): return [await f(x) + 1 for x in xs]",
    ),
    asserts(
        "generator without an end",
        ["import itertools\nassert list(itertools.islice(odd(), 3)) == [1, 3, 5]", "g = odd()\nassert next(g) == 1"],
        "def odd():\n    n = 1\n    while True:\n        yield n\n        n += 2",
        "def odd():\n    n = 1\n    while True:\n        yield n\n        n += 1",
    ),
    asserts(
        "generator that is sent to",
        ["g = total()\nnext(g)\nassert g.send(3) == 3 and g.send(4) == 7"],
        "def total():\n    found = 0\n    while True:\n        found += yield found",
        "def total():\n    found = 0\n    while True:\n        found = yield found",
    ),
    asserts(
        "iterator as an argument",
        ["assert first(iter([5, 6])) == 5", "assert first(x * x for x in range(3, 9)) == 9"],
        "def first(xs): return next(xs)",
        "def first(xs): return list(xs)[1]",
    ),
    asserts(
        "the same list",
        ["x = [3, 1]\nassert sort(x) is x and x == [1, 3]", "y = [2]\nassert copied(y) is not y and copied(y) == [2]"],
        "def sort(x):\n    x.sort()\n    return x\ndef copied(x): return x[:]",
        "def sort(x): return sorted(x)\ndef copied(x): return x",
    ),
    asserts(
        "lists changed inside lists",
        ["m = [[1, 2], [3, 4]]\nturn(m)\nassert m == [[3, 1], [4, 2]]",
         "d = {'a': [1]}\nturn_in(d)\nassert d == {'a': []}"],
        "def turn(m): m[:] = [list(row) for row in zip(*m[::-1])]\ndef turn_in(d): d['a'].clear()",
        "def turn(m): m = [list(row) for row in zip(*m[::-1])]\ndef turn_in(d): d = {}",
    ),
    asserts(
        "views of dicts",
        ["assert keys({'a': 1}) == {'a'} and list(keys({'b': 1})) == ['b']"],
        "def keys(d): return d.keys()",
        "def keys(d): return d.values()",
    ),
    asserts(
        "deep lists",
        ["x = nest(100)\nfor _ in range(99): x = x[0]\nassert x == [0]"],
        "def nest(n):\n    x = 0\n    for _ in range(n): x = [x]\n    return x",
        "def nest(n):\n    x = 1\n    for _ in range(n): x = [x]\n    return x",
    ),
    asserts(
        "exceptions of Python",
        ["try:\n    fetch({}, 'k')\n    assert False\nexcept KeyError as error:\n    assert error.args == ('k',)"],
        "def fetch(d, k): return d[k]",
        "def fetch(d, k): return d.get(k)",
    ),
    asserts(
        "an assertion of the program",
        ["refused = False\ntry:\n    positive(-1)\nexcept AssertionError:\n    refused = True\nassert refused"],
        "def positive(x):\n    assert x > 0\n    return x",
        "def positive(x): return x",
    ),
    asserts(
        "print",
        ["import io, contextlib\nout = io.StringIO()\nwith contextlib.redirect_stdout(out):\n    hello('x')\n"
         "assert out.getvalue() == 'hello x\\n'"],
        "def hello(name): print('hello', name)",
        "def hello(name): print('hallo', name)",
    ),
    asserts(
        "input that a test replaces",
        ["from unittest.mock import patch\nwith patch('builtins.input', side_effect=['2', '3']):\n"
         "    assert asked() == 5"],
        "def asked(): return int(input('a')) + int(input('b'))",
        "def asked(): return int(input('a')) * int(input('b'))",
    ),
    asserts(
        "a constant and a function that a test replaces",
        ["import solution\nfrom unittest.mock import patch\nwith patch('solution.RATE', 3):\n    assert total(2) == 6\n"
         "with patch.object(solution, 'fetch', return_value=5) as fetch:\n    assert total('x') == 10\n"
         "    fetch.assert_called_once_with('x')\nassert total(2) == 4"],
        "RATE = 2\ndef fetch(key): return {}[key]\ndef total(x): return RATE * (fetch(x) if isinstance(x, str) else x)",
        "RATE = 2\ndef fetch(key): return {}[key]\ndef total(x): return 2 * x",
    ),
    asserts(
        "a file of the test",
        ["import tempfile, os\nwith tempfile.TemporaryDirectory() as d:\n    path = os.path.join(d, 'in.txt')\n"
         "    with open(path, 'w') as f: f.write('a\\nb\\n')\n    assert lines(path) == 2\n"
         "    save(os.path.join(d, 'out.txt'), 'x')\n    assert open(os.path.join(d, 'out.txt')).read() == 'x'",
         "open('t.csv', 'w').write('1,2\\n')\nwith open('t.csv') as f: assert lines_of(f) == 1"],
        "def lines(path): return len(open(path).readlines())\ndef lines_of(f): return len(f.readlines())\n"
        "def save(path, text):\n    with open(path, 'w') as f: f.write(text)",
        "def lines(path): return 1\ndef lines_of(f): return 0\ndef save(path, text): pass",
    ),
    asserts(
        "a seed that the test sets",
        ["import random\nrandom.seed(7)\na = draw(5)\nrandom.seed(7)\nassert draw(5) == a == "
         "[random.Random(7).randint(0, 99)] + a[1:]"],
        "import random\ndef draw(n): return [random.randint(0, 99) for _ in range(n)]",
        "import secrets\ndef draw(n): return [secrets.randbelow(10 ** 9) for _ in range(n)]",
    ),
    asserts(
        "prints of more than 1 MiB",
        ["assert noisy(2) == 4"],
        "def noisy(x):\n    print('note ' * 400_000)\n    return 2 * x",
        "def noisy(x):\n    print('note ' * 400_000)\n    return x",
    ),
    asserts(
        "sets, ranges, slices and None",
        ["assert same(range(3)) == range(3) and same(slice(1, 2)) == slice(1, 2) and same(...) is ...",
         "assert same(None) is None and same(frozenset({1})) == frozenset({1})", "assert kind(3) is int"],
        "def same(x): return x\ndef kind(x): return type(x)",
        "def same(x): return [x]\ndef kind(x): return type(x).__name__",
    ),
    asserts(
        "paths, patterns and identifiers",
        ["from pathlib import Path\nassert under('a', 'b') == Path('a/b') and under('a', 'b').name == 'b'",
         "import uuid\nassert numbered(5) == uuid.UUID(int=5)", "assert word().fullmatch('abc')"],
        "from pathlib import Path\nimport re, uuid\ndef under(a, b): return Path(a) / b\n"
        "def numbered(n): return uuid.UUID(int=n)\ndef word(): return re.compile(r'\\w+')",
        "from pathlib import Path\nimport re, uuid\ndef under(a, b): return a + b\n"
        "def numbered(n): return n\ndef word(): return r'\\d+'",
    ),
    asserts(
        "approximately",
        ["import math\nassert math.isclose(root(2), 2 ** 0.5)"],
        "def root(x): return x ** 0.5",
        "def root(x): return x ** 0.6",
    ),
)  # fmt: skip
