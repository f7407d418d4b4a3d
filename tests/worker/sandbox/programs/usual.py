"""Programs as models usually write them: fast input, generators, decorators, threads, line ends of other systems."""

from tests.worker.sandbox.programs.case import Pair, asserts, fenced, script

DOUBLE = [("21\n", "42\n"), ("-3\n", "-6\n")]
ADD = [("2\n1 2\n", "3\n"), ("3\n10 -4 1\n", "7\n")]
_BOM = "\ufeff"


def _of_windows(code: str) -> str:
    return fenced(code).replace("\n", "\r\n")


PAIRS = (
    script(
        "sys.stdin.buffer",
        ADD,
        "import sys\ndata = sys.stdin.buffer.read().split()\nprint(sum(map(int, data[1:])))",
        "import sys\ndata = sys.stdin.buffer.read().split()\nprint(sum(map(int, data)))",
    ),
    script(
        "lines of sys.stdin.buffer",
        ADD,
        "import sys\nread = sys.stdin.buffer.readline\nread()\nprint(sum(map(int, read().split())))",
        "import sys\nread = sys.stdin.buffer.readline\nprint(sum(map(int, read().split())))",
    ),
    script(
        "sys.stdout.buffer",
        DOUBLE,
        "import sys\nsys.stdout.buffer.write(b'%d\\n' % (2 * int(input())))",
        "import sys\nsys.stdout.buffer.write(b'%d\\n' % (3 * int(input())))",
    ),
    script(
        "input as an alias",
        DOUBLE,
        "import sys\ninput = sys.stdin.readline\nprint(2 * int(input()))",
        "import sys\ninput = sys.stdin.readline\nprint(-2 * int(input()))",
    ),
    script(
        "io.open of descriptor zero",
        DOUBLE,
        "import io, os\nread = io.BytesIO(os.read(0, os.fstat(0).st_size or 1000)).readline\nprint(2 * int(read()))",
        "import io, os\nread = io.BytesIO(os.read(0, os.fstat(0).st_size or 1000)).readline\nprint(int(read()))",
    ),
    script(
        "input at its end",
        [("1\n2\n3\n", "6\n"), ("5\n", "5\n")],
        "total = 0\nwhile True:\n    try:\n        total += int(input())\n    except EOFError:\n        break\n"
        "print(total)",
        "total = 0\nwhile True:\n    total += int(input())\nprint(total)",
    ),
    script(
        "input at its end without a last line feed",
        [("1\n2\n3", "3\n")],
        "import sys\nprint(len([line.rstrip('\\n') for line in sys.stdin]))",
        "import sys\nprint(sum(line.endswith('\\n') for line in sys.stdin))",
    ),
    script(
        "flushed prints",
        DOUBLE,
        "import sys\nn = int(input())\nprint(2 * n, end='', flush=True)\nprint()\nsys.stdout.flush()",
        "import sys\nn = int(input())\nprint(2 * n, end='', flush=True)\nprint(0)\nsys.stdout.flush()",
    ),
    script(
        "deep recursion in a thread",
        [("30000\n", "30000\n")],
        "import sys, threading\nsys.setrecursionlimit(200000)\nthreading.stack_size(64 * 1024 * 1024)\n"
        "def f(n): return 0 if n == 0 else 1 + f(n - 1)\ndef main(): print(f(int(input())))\n"
        "t = threading.Thread(target=main)\nt.start()\nt.join()",
        "import sys, threading\nsys.setrecursionlimit(1000)\nthreading.stack_size(64 * 1024 * 1024)\n"
        "def f(n): return 0 if n == 0 else 1 + f(n - 1)\ndef main(): print(f(int(input())))\n"
        "t = threading.Thread(target=main)\nt.start()\nt.join()",
    ),
    script(
        "a pool of threads",
        ADD,
        "from concurrent.futures import ThreadPoolExecutor\ninput()\nwith ThreadPoolExecutor(4) as pool:\n"
        "    print(sum(pool.map(int, input().split())))",
        "from concurrent.futures import ThreadPoolExecutor\ninput()\nwith ThreadPoolExecutor(4) as pool:\n"
        "    print(max(pool.map(int, input().split())))",
    ),
    script(
        "asynchronous main with tasks",
        ADD,
        "import asyncio\nasync def one(word): return int(word)\nasync def main():\n    input()\n"
        "    print(sum(await asyncio.gather(*map(one, input().split()))))\nasyncio.run(main())",
        "import asyncio\nasync def one(word): return int(word)\nasync def main():\n    input()\n"
        "    print(len(await asyncio.gather(*map(one, input().split()))))\nasyncio.run(main())",
    ),
    script(
        "generator that reads",
        ADD,
        "def numbers():\n    while True:\n        yield from map(int, input().split())\n"
        "read = numbers()\nprint(sum(next(read) for _ in range(next(read))))",
        "def numbers():\n    while True:\n        yield from map(int, input().split())\n"
        "read = numbers()\nprint(sum(next(read) for _ in range(next(read) - 1)))",
    ),
    Pair(
        "CRLF in the program",
        {"tests": [{"input": "21\n", "output": "42\n"}]},
        _of_windows("n = int(input())\nif n:\n    print('''4\n2'''.replace('\\n', ''))"),
        _of_windows("n = int(input())\nif n:\n    print('''4\n2''')"),
    ),
    Pair(
        "CRLF in the input",
        {"tests": [{"input": "1\r\n2\r\n", "output": "3\r\n"}]},
        fenced("print(int(input()) + int(input()))"),
        fenced("print(int(input()) - int(input()))"),
    ),
    Pair(
        "BOM in front of the program",
        {"tests": [{"input": "21\n", "output": "42\n"}]},
        f"```python\n{_BOM}print(2 * int(input()))\n```",
        f"```python\n{_BOM}print(3 * int(input()))\n```",
    ),
    asserts(
        "generator that is read in part",
        ["from itertools import islice\nassert list(islice(primes(), 5)) == [2, 3, 5, 7, 11]"],
        "def primes():\n    n = 2\n    while True:\n        if all(n % d for d in range(2, n)):\n"
        "            yield n\n        n += 1",
        "def primes():\n    n = 2\n    while True:\n        if n % 2 or n == 2:\n            yield n\n        n += 1",
    ),
    asserts(
        "generator that is sent values",
        ["g = running()\nnext(g)\nassert g.send(2) == 2\nassert g.send(5) == 7\ng.close()"],
        "def running():\n    total = 0\n    while True:\n        total += yield total",
        "def running():\n    total = 0\n    while True:\n        total = yield total",
    ),
    asserts(
        "dataclass that is returned",
        ["p = move(Point(1, 2), 3)\nassert (p.x, p.y) == (4, 5)\nassert p == Point(4, 5)"],
        "from dataclasses import dataclass\n@dataclass\nclass Point:\n    x: int\n    y: int\n"
        "def move(p, by): return Point(p.x + by, p.y + by)",
        "from dataclasses import dataclass\n@dataclass\nclass Point:\n    x: int\n    y: int\n"
        "def move(p, by): return Point(p.x + by, p.y - by)",
    ),
    asserts(
        "frozen dataclass as a key",
        ["assert count([Point(1, 2), Point(1, 2), Point(0, 0)]) == 2"],
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass Point:\n    x: int\n    y: int\n"
        "def count(points): return len(set(points))",
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass Point:\n    x: int\n    y: int\n"
        "def count(points): return len(points)",
    ),
    asserts(
        "decorator with arguments",
        ["assert greet('Ada') == 'hello hello Ada'\nassert greet.__name__ == 'greet'"],
        "from functools import wraps\ndef twice(word):\n    def around(f):\n        @wraps(f)\n"
        "        def inner(name): return f'{word} {f(name)}'\n        return inner\n    return around\n"
        "@twice('hello')\ndef greet(name): return f'hello {name}'",
        "def twice(word):\n    def around(f):\n        def inner(name): return f'{word} {f(name)}'\n"
        "        return inner\n    return around\n@twice('hello')\ndef greet(name): return f'hello {name}'",
    ),
    asserts(
        "function that is cached",
        ["assert fib(80) == 23416728348467685", "assert fib(0) == 0"],
        "from functools import lru_cache\n@lru_cache(maxsize=None)\n"
        "def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)",
        "from functools import lru_cache\n@lru_cache(maxsize=None)\n"
        "def fib(n): return 1 if n < 2 else fib(n - 1) + fib(n - 2)",
    ),
)
