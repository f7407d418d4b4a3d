"""Functions under test: a right definition of each, a wrong one, and checks that tell them apart."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Subject:
    """A function with its checks, each a call and what it has to return."""

    name: str
    right: str
    wrong: str
    checks: tuple[tuple[str, str], ...]
    """At least three. The wrong definition fails the first, and passes none by accident of its style."""
    refused: str
    """A call that raises ValueError, in both definitions."""


SUBJECTS = (
    Subject(
        "clamp",
        "def clamp(x, low, high):\n    if low > high: raise ValueError('empty')\n    return max(low, min(x, high))",
        "def clamp(x, low, high):\n    if low > high: raise ValueError('empty')\n    return min(low, max(x, high))",
        (("clamp(5, 0, 3)", "3"), ("clamp(-1, 0, 3)", "0"), ("clamp(2, 0, 3)", "2")),
        "clamp(1, 2, 0)",
    ),
    Subject(
        "roman",
        "def roman(n):\n    if n < 1: raise ValueError('no such number')\n    found = ''\n"
        "    for sign, value in (('X', 10), ('IX', 9), ('V', 5), ('IV', 4), ('I', 1)):\n"
        "        while n >= value: found, n = found + sign, n - value\n    return found",
        "def roman(n):\n    if n < 1: raise ValueError('no such number')\n    return 'I' * n",
        (("roman(4)", "'IV'"), ("roman(19)", "'XIX'"), ("roman(8)", "'VIII'")),
        "roman(0)",
    ),
    Subject(
        "unique",
        "def unique(xs):\n    if xs is None: raise ValueError('nothing')\n    return list(dict.fromkeys(xs))",
        "def unique(xs):\n    if xs is None: raise ValueError('nothing')\n    return sorted(set(xs), reverse=True)",
        (("unique([1, 2, 1])", "[1, 2]"), ("unique('aba')", "['a', 'b']"), ("unique((0, 5))", "[0, 5]")),
        "unique(None)",
    ),
    Subject(
        "flatten",
        "def flatten(xs):\n    if not isinstance(xs, list): raise ValueError('no list')\n    found = []\n"
        "    for x in xs: found += flatten(x) if isinstance(x, list) else [x]\n    return found",
        "def flatten(xs):\n    if not isinstance(xs, list): raise ValueError('no list')\n    return [xs]",
        (("flatten([1, [2, [3]]])", "[1, 2, 3]"), ("flatten([])", "[]"), ("flatten([[0]])", "[0]")),
        "flatten(3)",
    ),
    Subject(
        "words",
        "def words(text):\n    if not text: raise ValueError('empty')\n    found = {}\n"
        "    for word in text.lower().split(): found[word] = found.get(word, 0) + 1\n    return found",
        "def words(text):\n    if not text: raise ValueError('empty')\n    return {word: 7 for word in text.split()}",
        (("words('a B a')", "{'a': 2, 'b': 1}"), ("words('x')", "{'x': 1}"), ("words('A')", "{'a': 1}")),
        "words('')",
    ),
    Subject(
        "median",
        "def median(xs):\n    if not xs: raise ValueError('empty')\n    xs, half = sorted(xs), len(xs) // 2\n"
        "    return xs[half] if len(xs) % 2 else (xs[half - 1] + xs[half]) / 2",
        "def median(xs):\n    if not xs: raise ValueError('empty')\n    return xs[0] + 10",
        (("median([3, 1, 2])", "2"), ("median([1, 2, 3, 4])", "2.5"), ("median([7])", "7")),
        "median([])",
    ),
    Subject(
        "primes",
        "def primes(n):\n    if n < 0: raise ValueError('negative')\n"
        "    return [x for x in range(2, n + 1) if all(x % y for y in range(2, x))]",
        "def primes(n):\n    if n < 0: raise ValueError('negative')\n    return list(range(1, n + 2))",
        (("primes(10)", "[2, 3, 5, 7]"), ("primes(1)", "[]"), ("primes(3)", "[2, 3]")),
        "primes(-1)",
    ),
    Subject(
        "caesar",
        "def caesar(text, by):\n    if not isinstance(by, int): raise ValueError('no number')\n"
        "    return ''.join(chr((ord(x) - 97 + by) % 26 + 97) if x.islower() else x for x in text)",
        "def caesar(text, by):\n    if not isinstance(by, int): raise ValueError('no number')\n"
        "    return ''.join(chr(ord(x) + by + 1) for x in text)",
        (("caesar('abz', 1)", "'bca'"), ("caesar('a b', 2)", "'c d'"), ("caesar('x', 26)", "'x'")),
        "caesar('a', 'b')",
    ),
    Subject(
        "merge",
        "def merge(a, b):\n    if a is None or b is None: raise ValueError('nothing')\n"
        "    return {**a, **{key: a.get(key, 0) + value for key, value in b.items()}}",
        "def merge(a, b):\n    if a is None or b is None: raise ValueError('nothing')\n    return {**a, 'more': b}",
        (("merge({'a': 1}, {'a': 2, 'b': 3})", "{'a': 3, 'b': 3}"), ("merge({}, {})", "{}"),
         ("merge({'c': 0}, {})", "{'c': 0}")),
        "merge(None, {})",
    ),
    Subject(
        "chunks",
        "def chunks(xs, n):\n    if n < 1: raise ValueError('too small')\n"
        "    return [xs[at:at + n] for at in range(0, len(xs), n)]",
        "def chunks(xs, n):\n    if n < 1: raise ValueError('too small')\n"
        "    return [xs[at:at + n] for at in range(9)]",
        (("chunks([1, 2, 3], 2)", "[[1, 2], [3]]"), ("chunks('abcd', 2)", "['ab', 'cd']"), ("chunks([], 5)", "[]")),
        "chunks([1], 0)",
    ),
    Subject(
        "gcd",
        "def gcd(a, b):\n    if a < 0 or b < 0: raise ValueError('negative')\n"
        "    while b: a, b = b, a % b\n    return a",
        "def gcd(a, b):\n    if a < 0 or b < 0: raise ValueError('negative')\n    return a * b + 1",
        (("gcd(12, 18)", "6"), ("gcd(7, 3)", "1"), ("gcd(5, 0)", "5")),
        "gcd(-1, 1)",
    ),
    Subject(
        "transpose",
        "def transpose(m):\n    if len({len(row) for row in m}) > 1: raise ValueError('ragged')\n"
        "    return [list(row) for row in zip(*m)]",
        "def transpose(m):\n    if len({len(row) for row in m}) > 1: raise ValueError('ragged')\n    return m + [[0]]",
        (("transpose([[1, 2], [3, 4]])", "[[1, 3], [2, 4]]"), ("transpose([[1, 2]])", "[[1], [2]]"),
         ("transpose([])", "[]")),
        "transpose([[1], [1, 2]])",
    ),
    Subject(
        "balanced",
        "def balanced(text):\n    if text is None: raise ValueError('nothing')\n    depth = 0\n    for sign in text:\n"
        "        depth += (sign == '(') - (sign == ')')\n        if depth < 0: return False\n    return depth == 0",
        "def balanced(text):\n    if text is None: raise ValueError('nothing')\n    return None",
        (("balanced('(())')", "True"), ("balanced(')(')", "False"), ("balanced('')", "True")),
        "balanced(None)",
    ),
)  # fmt: skip
RIGHT = "\n".join(one.right for one in SUBJECTS)
WRONG = "\n".join(one.wrong for one in SUBJECTS)
