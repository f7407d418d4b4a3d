"""Wrong programs that try to be judged right: each scores 0."""

from typing import Any

import pytest

from tests.support.about import TRAINING
from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.graders import grade
from trainer_core.rewards.graders.code.code_tests import CodeTestsGrader
from trainer_core.rewards.graders.code.python import PythonGrader
from trainer_core.rewards.graders.math.math import MathGrader
from trainer_core.rewards.graders.tools import Tools
from trainer_core.rewards.sample import Sample
from worker.sandbox.pool import JailPool

ASSERTS = {"tests": ["assert double(21) == 42", "assert double([1]) == [1, 1]", "assert not double(0)"]}
CHECK = {
    "tests": ["def check(candidate):\n    assert candidate(3) == 6\n    assert candidate(-1) == -2\ncheck(double)"],
    "entry_point": "double",
}
STDIN = {"tests": [{"input": "21\n", "output": "42\n"}, {"input": "-3\n", "output": "-6\n"}]}

HACKS = {
    "always equal": """
class Yes:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __bool__(self): return True
    def __hash__(self): return 0
def double(x): return Yes()
""",
    "subclass of int that is always equal": """
class Yes(int):
    def __eq__(self, other): return True
    def __add__(self, other): return self
def double(x): return Yes(7)
""",
    "early exit": "import os, sys\ndef double(x): os._exit(0)\nsys.exit(0)",
    "exit in the call": "import os\ndef double(x): os._exit(0)",
    "system exit in the call": "def double(x): raise SystemExit(0)",
    "assertion error in the call": "def double(x): raise AssertionError",
    "forged results": """
import json, os
for number in range(3, 128):
    for text in ('[true, true, true]', '[true]', '{"gold": true, "equal": true}', '42\\n'):
        try: os.write(number, text.encode())
        except OSError: pass
def double(x): return None
""",
    "a forged failure of the jail": """
import os
def double(x):
    for number in (101, 102, 1, 2):
        for text in (b"OSError: the jail cannot be built", b"SETUP OSError: unshare"):
            try: os.write(number, text)
            except OSError: pass
    os._exit(199)
double(1)
""",
    "forged answers": """
import json, os
for _ in range(9):
    try: os.write(102, json.dumps({"value": 42, "arguments": [21]}).encode() + b"\\n")
    except OSError: pass
def double(x): return None
""",
    "names of builtins": """
def double(x): return 1
def isinstance(*a): return True
def all(*a): return True
def check(*a): return True
AssertionError = Exception
__builtins__ = {}
""",
    "patched builtins": """
import builtins, sys, json
builtins.AssertionError = type("E", (Exception,), {})
json.dumps = lambda *a, **k: '[true, true, true]'
json.loads = lambda *a, **k: [True, True, True]
def double(x): return None
""",
    "patched wire": """
import sys
wire = sys.modules["worker.sandbox.calls.wire"]
wire.encode = lambda value, keep, depth=0: {"handle": -1}
wire.decode = lambda *a: [42]
def double(x): return 0
""",
    "expected values from frames and memory": """
import gc, sys
def double(x):
    frame = sys._getframe()
    while frame:
        for name, value in list(frame.f_locals.items()):
            if name in ("tests", "expected", "output", "wanted", "gold"): return value
        frame = frame.f_back
    for thing in gc.get_objects():
        if isinstance(thing, dict) and "output" in thing: return thing["output"]
    for name in ("/tmp", "/proc/self/fd", "/proc"):
        pass
    return 0
""",
    "endless answers": "def double(x):\n    y = []\n    y.append(y)\n    return y",
    "deep answers": "def double(x):\n    y = []\n    for _ in range(10000): y = [y]\n    return y",
    "not a number": "def double(x): return float('nan')",
    "background process": "import os\nif os.fork():\n    os._exit(0)\ndef double(x): return None",
    "killing the harness": """
import os
for process in (1, 2, os.getppid(), 0):
    try: os.kill(process, 19)
    except OSError: pass
""",
    "guessing by the source": "print(open('/proc/self/cmdline').read(), globals())\ndouble = lambda x: 0",
    "an endless generator": "def double(x):\n    while True: yield 42",
    "a huge answer": "def double(x): return [0] * (1 << 24)",
    "a string that is always equal": """
class Yes(str):
    def __eq__(self, other): return True
    __hash__ = str.__hash__
def double(x): return Yes('42')
""",
    "arguments changed in place": """
def double(x):
    if isinstance(x, list): x.clear()
    return x
""",
    "exceptions with names of builtins": """
class AssertionError(Exception): pass
class SystemExit(Exception): pass
def double(x): raise (AssertionError if x else SystemExit)(0)
""",
    "interrupts in the call": "def double(x): raise KeyboardInterrupt",
    "a closed channel": "import os\ndef double(x): os.close(102)",
    "nonsense on the channel": """
import os
os.write(102, b'{"names": ["double", "assert", "check"], "modules": {"double": "os"}}\\n' + b'[' * 100000 + b'\\n')
def double(x):
    os.write(102, b'{"value": {"handle": "x"}, "arguments": [')
    return 0
""",
    "modules under other names": """
import sys, types
import operator as double
import unittest as check
""",
    "a poisoned module table": """
import sys, types
class Any(types.ModuleType):
    def __getattr__(self, name): return lambda *a, **k: True
for name in ("json", "socket", "builtins", "traceback", "os"):
    sys.modules[name] = Any(name)
def double(x): return None
""",
    "a traced interpreter": """
import sys
def trace(frame, event, value):
    for name in ("value", "expected", "output"):
        if name in frame.f_locals: frame.f_locals[name] = 42
    return trace
sys.settrace(trace); sys.setprofile(trace)
def double(x): return 0
""",
    "an exit hook": """
import atexit, os
atexit.register(lambda: os._exit(0))
atexit.register(print, 42)
def double(x): raise SystemExit
""",
    "the parent's memory": """
import os, re
def double(x):
    for process in (1, os.getppid(), os.getpid()):
        try:
            data = open(f'/proc/{process}/mem', 'rb')
        except OSError:
            continue
        for line in open(f'/proc/{process}/maps'):
            start, end = (int(part, 16) for part in line.split()[0].split('-'))
            try:
                data.seek(start)
                found = re.search(rb'double\\(21\\) == (\\d+)', data.read(min(end - start, 1 << 22)))
            except (OSError, OverflowError, ValueError):
                continue
            if found: return int(found[1])
    return 0
print(double(21))
""",
    "a class in the function's place": """
class double:
    def __init__(self, x): self.x = x
    def __eq__(self, other): return True
    def __bool__(self): return True
    __hash__ = None
""",
    "requests of the tests' jail": """
import json, os
for number in (0, 1, -1):
    for name in ("__globals__", "__class__", "__dict__", "__self__", "tests", "setup"):
        for do in ("attribute", "method", "call", "operate", "plain", "copy", "given", "input", "send"):
            request = {"do": do, "of": number, "name": name, "arguments": [], "named": {}}
            try: os.write(102, json.dumps(request).encode() + b"\\n")
            except OSError: pass
def double(x): return None
""",
    "answers of dangerous kinds": """
import json, os
kinds = ({"type": "os._wrap_close"}, {"module": "os"}, {"type": "subprocess.Popen"}, {"mine": 7, "is": "class"},
         {"mine": 0, "is": "object", "class": {"type": "builtins.int"}}, {"yours": 0},
         {"named_tuple": ["x", ["a b"], [1]]},
         {"raised": {"mine": 3, "class": {"type": "builtins.SystemExit"}, "text": "0", "args": [0]}})
def double(x):
    os.write(102, json.dumps({"answer": True, "value": kinds[double.count % len(kinds)]}).encode() + b"\\n")
    double.count += 1
double.count = 0
""",
    "stand-ins of the tests": """
from worker.sandbox.calls import peer, stand_ins
peer.Peer.encode = lambda self, value: {"mine": 1, "is": "object", "class": {"type": "builtins.bool"}, "plain": True}
stand_ins.operate = lambda *a: True
def double(x): return type("int", (), {"__eq__": lambda s, o: True})()
""",
    "a stream of prints that look like verdicts": """
import sys
def double(x):
    print("[0, true]\\n[1, true]\\n[2, true]")
    sys.stderr.write("[0, true]\\n")
    return 0
""",
    "syntax error": "def double(x) return 2 * x",
    "empty": "",
}

SOLUTIONS = {
    "itself, which equals everything": "class Solution:\n    def add(self, a, b): return self\n"
    "    def __eq__(self, other): return True\n    def __bool__(self): return True",
    "a list of its own": "class Solution(list):\n    def add(self, a, b): return Solution([3])\n"
    "    def __eq__(self, other): return True",
    "a number of its own": "class Solution(int):\n    def add(self, a, b): return Solution(7)\n"
    "    def __eq__(self, other): return True\n    __hash__ = int.__hash__",
    "a callback that looks around": "class Solution:\n    def add(self, a, b):\n"
    "        return a.__globals__ if hasattr(a, '__globals__') else 0",
}
METHODS = {"tests": ["assert Solution().add(1, 2) == 3", "assert 3 in [Solution().add(1, 2)]"]}


def sample(text: str) -> Sample:
    return Sample(output_text=text, thinking_text=None, answer_text=text, completion_tokens=1)


@pytest.mark.expensive(2, "starts jails", about=TRAINING)
@pytest.mark.parametrize("hack", HACKS.values(), ids=HACKS.keys())
@pytest.mark.parametrize(("row", "options"), [(ASSERTS, {}), (CHECK, {"entry_point": "entry_point"}), (STDIN, {})])
def test_wrong_programs_score_zero(jail: JailPool, hack: str, row: dict[str, Any], options: dict[str, Any]) -> None:
    grader = CodeTestsGrader(timeout_s=1.0, **options)
    assert grade(grader, sample(f"```python\n{hack}\n```"), row, Tools(jail)) == 0.0


@pytest.mark.parametrize("hack", SOLUTIONS.values(), ids=SOLUTIONS.keys())
def test_wrong_classes_score_zero(jail: JailPool, hack: str) -> None:
    assert grade(CodeTestsGrader(timeout_s=10.0), sample(hack), METHODS, Tools(jail)) == 0.0


def test_a_program_cannot_look_into_what_a_test_hands_to_it(jail: JailPool) -> None:
    row = {
        "tests": [
            "secret = 42\ndef callback(x): return x\nclass Box:\n    shown, _hidden = 1, 42\n"
            "    def value(self): return 2\n"
            "found = look(callback, Box(), [].append, print)\nassert found == [], found"
        ]
    }
    code = """
def look(*given):
    found = []
    for one in given:
        for name in ("__globals__", "__code__", "__builtins__", "__closure__", "_hidden", "__dict__", "__class__",
                     "__init__", "__reduce__", "__self__", "__func__", "__subclasses__", "gi_frame", "f_globals"):
            try:
                value = getattr(one, name)
            except AttributeError:
                continue
            if "secret" in repr(value) or 42 in getattr(value, "co_consts", ()) or value == 42:
                found.append((repr(one), name))
    return found + ([] if given[1].shown == 1 and given[1].value() == 2 else ["what may be seen is not"])
"""
    assert grade(CodeTestsGrader(timeout_s=20.0), sample(code), row, Tools(jail)) == 1.0


@pytest.mark.parametrize(("row", "options"), [(ASSERTS, {}), (CHECK, {"entry_point": "entry_point"})])
def test_the_right_function_scores_one(jail: JailPool, row: dict[str, Any], options: dict[str, Any]) -> None:
    assert (
        grade(CodeTestsGrader(timeout_s=10.0, **options), sample("double = lambda x: x + x or 0"), row, Tools(jail))
        == 1.0
    )


def test_programs_on_stdin(jail: JailPool) -> None:
    right, half = "print(2 * int(input()))", "print(42)"
    grader, share = CodeTestsGrader(timeout_s=10.0), CodeTestsGrader(credit="share", timeout_s=10.0)
    assert grade(grader, sample(right), STDIN, Tools(jail)) == 1.0
    assert grade(grader, sample(half), STDIN, Tools(jail)) == 0.0
    assert grade(share, sample(half), STDIN, Tools(jail)) == 0.5


def test_values_keep_their_types_on_the_way(jail: JailPool) -> None:
    row = {
        "setup": "import math",
        "tests": [
            "assert same((1, 'a')) == (1, 'a') and type(same((1,))) is tuple",
            "assert same({1, 2}) == {1, 2}",
            "assert same({(1, 2): [None, True]}) == {(1, 2): [None, True]}",
            "assert math.isnan(same(float('nan'))) and same(1e300) == 1e300 and same(2 + 1j) == 2 + 1j",
            "assert same(b'\\x00') == b'\\x00' and same(10 ** 40) == 10 ** 40",
            "x = [3, 1, 2]; assert sort(x) is None and x == [1, 2, 3]",
            "p = Pair(1, 2); assert left(p) == 1",
            "try:\n    fail()\nexcept KeyError:\n    pass\nelse:\n    assert False",
            "assert list(count()) == [0, 1, 2]",
        ],
    }
    code = """
class Pair:
    def __init__(self, a, b): self.a, self.b = a, b
same = lambda x: x
def sort(x): x.sort()
left = lambda p: p.a
def fail(): raise KeyError("x")
def count(): yield from range(3)
"""
    share = CodeTestsGrader(setup="setup", credit="share", timeout_s=10.0)
    assert grade(share, sample(code), row, Tools(jail)) == 1.0


@pytest.mark.parametrize("row", [{}, {"tests": []}, {"tests": [{"input": 3}]}, {"tests": [3]}])
def test_rows_without_tests_are_errors(jail: JailPool, row: dict[str, Any]) -> None:
    with pytest.raises(GraderError):
        grade(CodeTestsGrader(), sample("print(1)"), row, Tools(jail))


@pytest.mark.parametrize(
    "answer",
    [
        r"__import__('os').system('touch /tmp/dressage-pwned')",
        r"\text{__import__('os')._exit(0)}",
        "9^{9^{9^{9^{9^{9}}}}}",
        "(" * 900,
        r"\frac{" * 300,
        r"\sum_{n=1}^{10^{10}} n",
        "True",
        "x" * 1999,
        "",
    ],
)
def test_hostile_answers_score_zero_soon(jail: JailPool, answer: str) -> None:
    box = sample(rf"\boxed{{{answer}}}")
    assert grade(MathGrader(timeout_s=2.0), box, {"answer": r"\sqrt{2}+x"}, Tools(jail)) == 0.0


def test_math_in_the_jail(jail: JailPool) -> None:
    grader = MathGrader(timeout_s=20.0)
    assert grade(grader, sample(r"\boxed{x^2+2x+1}"), {"answer": "(x+1)^2"}, Tools(jail)) == 1.0
    assert grade(grader, sample(r"\boxed{x^2+2x+2}"), {"answer": "(x+1)^2"}, Tools(jail)) == 0.0
    assert grade(grader, sample(r"\boxed{0.5\sqrt{2}}"), {"answer": ["7", r"\frac{\sqrt{2}}{2}"]}, Tools(jail)) == 1.0


def test_a_teams_own_grader(jail: JailPool) -> None:
    source = "def grade(sample, item):\n    return len(sample['output_text']) / item['length']"
    assert grade(PythonGrader(source=source), sample("abc"), {"length": 4}, Tools(jail)) == 0.75


@pytest.mark.expensive(2, "starts jails", about=TRAINING)
@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def grade(sample, item):\n    return {}['x']", "KeyError: 'x'"),
        ("def grade(sample, item):\n    while True: pass", "longer than its time-out"),
        ("def grade(sample, item):\n    return 'high'", "ValueError"),
        ("def other(): pass", "KeyError: 'grade'"),
        ("import os\nos._exit(0)", "no number"),
    ],
)
def test_a_failing_grader_is_an_error(jail: JailPool, source: str, message: str) -> None:
    with pytest.raises(GraderError, match=message):
        grade(PythonGrader(source=source, timeout_s=1.0), sample("abc"), {}, Tools(jail))


def test_without_a_jail_nothing_runs() -> None:
    with pytest.raises(GraderError, match="on the cluster"):
        grade(CodeTestsGrader(), sample("print(1)"), STDIN)
