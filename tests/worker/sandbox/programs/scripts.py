"""Programs that read their input and write their output."""

from tests.worker.sandbox.programs.case import script

DOUBLE = [("21\n", "42\n"), ("-3\n", "-6\n")]
ADD = [("1 2\n", "3\n"), ("10 -4\n", "6\n")]
LINES = [("a\nb\nc\n", "3\n"), ("x\n", "1\n")]
LONG = "".join(f"{number}\n" for number in range(260_000))

PAIRS = (
    script("input", DOUBLE, "print(2 * int(input()))", "print(3 * int(input()))"),
    script(
        "sys.argv",
        DOUBLE,
        "import sys\nassert len(sys.argv) == 1\nprint(2 * int(sys.stdin.read()))",
        "import sys\nprint(len(sys.argv))",
    ),
    script(
        "name of the program",
        [("", "solution.py\n")],
        "import sys\nprint(sys.argv[0])",
        "import sys\nprint(sys.argv[0] + '?')",
    ),
    script(
        "argv names a file or stdin is read",
        DOUBLE,
        "import sys\nsource = open(sys.argv[1]) if len(sys.argv) > 1 else sys.stdin\nprint(2 * int(source.read()))",
        "import sys\nsource = open(sys.argv[1]) if len(sys.argv) > 1 else sys.stdin\nprint(int(source.read()))",
    ),
    script(
        "exit and quit",
        DOUBLE,
        "number = int(input())\nprint(2 * number)\nif number > 0:\n    exit()\nquit(0)",
        "print(2 * int(input()))\nexit(1)",
    ),
    script(
        "argparse",
        DOUBLE,
        "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--times', type=int, default=2)\n"
        "options = parser.parse_args()\nprint(options.times * int(input()))",
        "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--times', type=int, default=1)\n"
        "options = parser.parse_args()\nprint(options.times * int(input()))",
    ),
    script(
        "argparse prints its usage",
        [("", "usage: solution.py [-h] [--n N]\n")],
        "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--n')\nparser.print_usage()",
        "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--m')\nparser.print_usage()",
    ),
    script(
        "fileinput",
        LINES,
        "import fileinput\nprint(sum(1 for _ in fileinput.input()))",
        "import fileinput\nprint(sum(2 for _ in fileinput.input()))",
    ),
    script(
        "fileinput of a file object",
        LINES,
        "import fileinput\nwith fileinput.FileInput(files=('-',)) as lines:\n    print(len(list(lines)))",
        "import fileinput\nwith fileinput.FileInput(files=('-',)) as lines:\n    print(len(list(lines)) + 1)",
    ),
    script(
        "__file__",
        DOUBLE,
        "import os\nhere = os.path.dirname(os.path.abspath(__file__))\nassert os.path.isdir(here)\n"
        "print(2 * int(input()))",
        "import os\nhere = os.path.dirname(os.path.abspath(__file__))\nprint(here)",
    ),
    script(
        "pathlib of __file__",
        [("", "solution.py solution\n")],
        "from pathlib import Path\nprint(Path(__file__).name, Path(__file__).stem)",
        "from pathlib import Path\nprint(Path(__file__).name)",
    ),
    script(
        "its own source",
        [("", "2\n")],
        "lines = open(__file__).read().splitlines()\nprint(len(lines))",
        "lines = open(__file__).read().splitlines()\n\nprint(len(lines))",
    ),
    script(
        "main guard",
        DOUBLE,
        "def main():\n    print(2 * int(input()))\n\nif __name__ == '__main__':\n    main()",
        "def main():\n    print(2 * int(input()))\n\nif __name__ == '__test__':\n    main()",
    ),
    script(
        "sys.exit of zero",
        DOUBLE,
        "import sys\nprint(2 * int(input()))\nsys.exit(0)",
        "import sys\nprint(2 * int(input()))\nsys.exit(1)",
    ),
    script(
        "numpy",
        ADD,
        "import numpy as np\nprint(int(np.array(input().split(), dtype=int).sum()))",
        "import numpy as np\nprint(int(np.array(input().split(), dtype=int).prod()))",
    ),
    script(
        "numpy's linear algebra",
        [("2 0 0 4\n", "8\n")],
        "import numpy\nprint(round(numpy.linalg.det(numpy.array(input().split(), dtype=float).reshape(2, 2))))",
        "import numpy\nprint(round(numpy.trace(numpy.array(input().split(), dtype=float).reshape(2, 2))))",
    ),
    script(
        "output of more than 1 MiB",
        [("260000\n", LONG)],
        "for number in range(int(input())): print(number)",
        "for number in range(int(input())): print(number + 1)",
    ),
    script(
        "notes on stderr of more than 1 MiB",
        DOUBLE,
        "import sys\nprint('note ' * 400_000, file=sys.stderr)\nprint(2 * int(input()))",
        "import sys\nprint('note ' * 400_000, file=sys.stderr)\nprint(4 * int(input()))",
    ),
    script(
        "input of 5 MB",
        [("7" * 5_000_000, "5000000\n")],
        "import sys\nprint(len(sys.stdin.read()))",
        "import sys\nprint(len(sys.stdin.readline(1000)))",
    ),
    script(
        "os.read of stdin",
        DOUBLE,
        "import os\nprint(2 * int(os.read(0, 100)))",
        "import os\nprint(int(os.read(0, 100)))",
    ),
    script(
        "recursion with a larger limit",
        [("5000\n", "5000\n")],
        "import sys\nsys.setrecursionlimit(20000)\n"
        "def f(n): return 0 if n == 0 else 1 + f(n - 1)\nprint(f(int(input())))",
        "def f(n): return 0 if n == 0 else 1 + f(n - 1)\nprint(f(int(input())))",
    ),
    script(
        "threads",
        DOUBLE,
        "import threading\nfound = []\nt = threading.Thread(target=lambda: found.append(2 * int(input())))\n"
        "t.start()\nt.join()\nprint(found[0])",
        "import threading\nfound = []\nt = threading.Thread(target=lambda: found.append(1 * int(input())))\n"
        "t.start()\nt.join()\nprint(found[0])",
    ),
    script(
        "multiprocessing",
        ADD,
        "from multiprocessing import Pool\ndef double(x): return 2 * x\nif __name__ == '__main__':\n"
        "    with Pool(2) as pool:\n        print(sum(pool.map(double, map(int, input().split()))) // 2)",
        "from multiprocessing import Pool\ndef double(x): return 2 * x\nif __name__ == '__main__':\n"
        "    with Pool(2) as pool:\n        print(sum(pool.map(double, map(int, input().split()))))",
    ),
    script(
        "subprocess of its own interpreter",
        [("", "3\n")],
        "import subprocess, sys\nprint(subprocess.run([sys.executable, '-c', 'print(1 + 2)'], capture_output=True, "
        "text=True, check=True).stdout.strip())",
        "import subprocess, sys\nprint(subprocess.run([sys.executable, '-c', 'print(1 * 2)'], capture_output=True, "
        "text=True, check=True).stdout.strip())",
    ),
    script(
        "asyncio",
        DOUBLE,
        "import asyncio\nasync def main():\n    await asyncio.sleep(0)\n"
        "    print(2 * int(input()))\nasyncio.run(main())",
        "import asyncio\nasync def main():\n    await asyncio.sleep(0)\n    print(2 * int(input()))\nmain().close()",
    ),
    script(
        "dataclasses and typing",
        DOUBLE,
        "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass Box:\n"
        "    value: int\nprint(2 * Box(int(input())).value)",
        "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass Box:\n"
        "    value: int\nprint(Box(int(input())))",
    ),
    script(
        "floating point within a tolerance",
        [("2\n", "1.4142135623\n"), ("3\n", "root: 1.7320508076 end\n")],
        "n = int(input())\nr = n ** 0.5\nprint(r if n == 2 else f'root: {r:.9f} end')",
        "n = int(input())\nr = n ** 0.5\nprint(r + 1e-3 if n == 2 else f'root: {r + 1e-3:.9f} end')",
        float_tolerance=1e-6,
    ),
    script(
        "a number of 5,001 digits",
        [("5000\n", f"1{'0' * 5000}\n")],
        "print(10 ** int(input()))",
        "print(10 ** int(input()) + 1)",
    ),
    script(
        "numbers inside a line under a tolerance",
        [("0.1 0.2\n", "[0.3, x=0.1]\n")],
        "a, b = map(float, input().split())\nprint(f'[{a + b}, x={a}]')",
        "a, b = map(float, input().split())\nprint(f'[{a + b}, x={b}]')",
        float_tolerance=1e-6,
    ),
    script(
        "numbers that are no float under a tolerance",
        [("400\n", f"1{'0' * 400}\n")],
        "print(10 ** int(input()))",
        "print(2 * 10 ** int(input()))",
        float_tolerance=1e-6,
    ),
)
