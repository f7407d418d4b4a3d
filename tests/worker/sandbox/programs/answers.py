"""The program in an answer: fences, examples of use and texts around it."""

from tests.worker.sandbox.programs.case import Pair

ROW = {"tests": [{"input": "21\n", "output": "42\n"}]}
ASSERT = {"tests": ["assert double(21) == 42"]}
RIGHT, WRONG = "print(2 * int(input()))", "print(3 * int(input()))"
FUNCTION, BROKEN = "def double(x):\n    return 2 * x", "def double(x):\n    return 3 * x"
F, P = "```", "```python\n"


def stdin(name: str, right: str, wrong: str) -> Pair:
    return Pair(name, ROW, right, wrong)


def called(name: str, right: str, wrong: str) -> Pair:
    return Pair(name, ASSERT, right, wrong)


PAIRS = (
    stdin("no fence", RIGHT, WRONG),
    stdin("fence without a language", f"{F}\n{RIGHT}\n{F}", f"{F}\n{WRONG}\n{F}"),
    stdin("tildes", f"So:\n~~~python\n{RIGHT}\n~~~\nDone.", f"So:\n~~~python\n{WRONG}\n~~~\nDone."),
    stdin("unclosed fence", f"So:\n{P}{RIGHT}\n", f"So:\n{P}{WRONG}\n"),
    stdin("unclosed tildes", f"So:\n~~~\n{RIGHT}", f"So:\n~~~\n{WRONG}"),
    stdin("four backticks", f"````python\n'''\n{F}\n'''\n{RIGHT}\n````", f"````python\n'''\n{F}\n'''\n{WRONG}\n````"),
    stdin("fence in a list", f"1. So:\n\n   {P}   x = int(input())\n   print(2 * x)\n   {F}\n",
          f"1. So:\n\n   {P}   x = int(input())\n   print(x)\n   {F}\n"),
    stdin("fence on one line", f"{F}{RIGHT}{F}", f"{F}{WRONG}{F}"),
    stdin("line ends of Windows", f"{F}python\r\nx = int(input())\r\nprint(2 * x)\r\n{F}\r\n",
          f"{F}python\r\nx = int(input())\r\nprint(x)\r\n{F}\r\n"),
    stdin("output beside the program", f"{P}{RIGHT}\n{F}\nFor 21 it prints\n{F}\n42\n{F}",
          f"{P}{WRONG}\n{F}\nFor 21 it prints\n{F}\n42\n{F}"),
    stdin("shell beside the program", f"{P}{RIGHT}\n{F}\nRun it:\n{F}bash\npython solution.py < input.txt\n{F}",
          f"{P}{WRONG}\n{F}\nRun it:\n{F}bash\npython solution.py < input.txt\n{F}"),
    stdin("a mended second program", f"{P}{WRONG}\n{F}\nThat is wrong. Better:\n{P}{RIGHT}\n{F}",
          f"{P}{RIGHT}\n{F}\nBetter still:\n{P}{WRONG}\n{F}"),
    stdin("functions and their call in two blocks",
          f"{P}def double(x):\n    return 2 * x\n{F}\n{P}print(double(int(input())))\n{F}",
          f"{P}def double(x):\n    return 3 * x\n{F}\n{P}print(double(int(input())))\n{F}"),
    stdin("example of use behind a whole program",
          f"{P}def double(x):\n    return 2 * x\nprint(double(int(input())))\n{F}\n{P}print(double(3))\n{F}",
          f"{P}def double(x):\n    return 3 * x\nprint(double(int(input())))\n{F}\n{P}print(double(3))\n{F}"),
    stdin("numbers as an example without a language", f"{F}\n{RIGHT}\n{F}\nInput:\n{F}\n21\n{F}\nOutput:\n{F}\n42\n{F}",
          f"{F}\n{WRONG}\n{F}\nInput:\n{F}\n21\n{F}\nOutput:\n{F}\n42\n{F}"),
    called("example of use", f"{P}{FUNCTION}\n{F}\nUse it so:\n{P}print(double(21))  # 42\n{F}",
           f"{P}{BROKEN}\n{F}\nUse it so:\n{P}print(double(21))  # 42\n{F}"),
    called("example that imports the program",
           f"{P}{FUNCTION}\n{F}\n{P}from solution import double\nassert double(2) == 4\n{F}",
           f"{P}{BROKEN}\n{F}\n{P}from solution import double\nprint(double(2))\n{F}"),
    called("example that asks for more", f"{P}{FUNCTION}\n{F}\n{P}n = int(input())\nprint(double(n))\n{F}",
           f"{P}{BROKEN}\n{F}\n{P}n = int(input())\nprint(double(n))\n{F}"),
    called("program in two blocks",
           f"First:\n{P}def twice(x, y):\n    return x * y\n{F}\nThen:\n{P}def double(x):\n"
           f"    return twice(2, x)\n{F}",
           f"First:\n{P}def twice(x, y):\n    return x + y\n{F}\nThen:\n{P}def double(x):\n"
           f"    return twice(2, x)\n{F}"),
    called("imports in a block of their own",
           f"{P}import operator\n{F}\nand\n{P}def double(x):\n    return operator.mul(2, x)\n{F}",
           f"{P}import operator\n{F}\nand\n{P}def double(x):\n    return operator.add(2, x)\n{F}"),
    called("example of a session", f"{P}{FUNCTION}\n{F}\n{P}>>> double(21)\n42\n{F}",
           f"{P}{BROKEN}\n{F}\n{P}>>> double(21)\n42\n{F}"),
    called("prose before the fence in capitals", f"{F}Python\n{FUNCTION}\n{F}", f"{F}Python\n{BROKEN}\n{F}"),
    called("tag with more words", f"{F}python title=\"solution.py\"\n{FUNCTION}\n{F}",
           f"{F}python title=\"solution.py\"\n{BROKEN}\n{F}"),
    called("notes in another language before", f"{F}json\n{{\"a\": 1}}\n{F}\n{F}py\n{FUNCTION}\n{F}",
           f"{F}json\n{{\"a\": 1}}\n{F}\n{F}py\n{BROKEN}\n{F}"),
)  # fmt: skip
