"""Refuses tests whose outcome depends on how busy the machine is, or on which test ran before them.

A line with a comment such as ``# waits: <why>`` is let through: each rule names the word that its comment begins with.
"""

import ast
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from scripts.lint.runner import ROOT

BENCH = "tests/bench/"
"""Where speed is measured."""
BROWSERS = ("tests/e2e/", "tests/support/pages.py")
UNCHANGING = "/spec/"
"""Lists that come with the program."""
ROWS = re.compile(r"(^|-)(row|rows|table|health)$")
"""Roles and test ids of what stands once in each row of a table."""
CLOCKS = {
    *(f"time.{name}{unit}" for name in ("time", "monotonic", "perf_counter", "process_time") for unit in ("", "_ns")),
    *("time.thread_time", "time.thread_time_ns"),
    *("datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today", "datetime.date.today"),
    "django.utils.timezone.now",
}
PROGRAMS = {f"subprocess.{name}" for name in ("run", "call", "check_call", "check_output")}
SHARED = {"os.environ", "sys.modules"}
CHANGES = {"clear", "pop", "popitem", "setdefault", "update"}
RERUNS = {"pytest.mark.flaky", "pytest.mark.reruns"}
ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True)
class Rule:
    """What is refused, and what to do instead."""

    word: str
    """How a comment begins that lets a line through; empty where none does."""
    sentence: str


CLOCK_AT_IMPORT = Rule("", "reads a clock at import, long before the test runs: read it in the test")
SLEEP = Rule("waits", "waits on time: wait on a condition (tests.support.installation.wait_until) or inject a clock")
ELAPSED = Rule(
    "",
    "compares elapsed time: count the work, use tests.support.growth or inject a clock; "
    "mark the test `timed` where a clock is its subject, and show speed in tests/bench",
)
FIRST = Rule("first", "takes the first of a list that other tests change: make an object and look it up by its id")
CHANGE = Rule("", "changes what all tests of the process share: use monkeypatch, which restores it")
PROGRAM = Rule("", "bounds a program's time: the test has a timeout of its own")
RERUN = Rule("", "runs a failed test again: mend the test")


def faults(file: str, text: str) -> list[str]:
    """A line for each fault of a file of tests, with its place. ``file``: relative to the repository."""
    module = _Module(file, text)
    checks: list[tuple[Callable[[_Module], Iterator[ast.AST]], Rule]] = [
        (_clocks_at_import, CLOCK_AT_IMPORT),
        (_sleeps, SLEEP),
        (_elapsed, ELAPSED),
        (_firsts, FIRST),
        (_changes, CHANGE),
        (_program_timeouts, PROGRAM),
        (_reruns, RERUN),
    ]
    found = {
        (node.lineno, rule.sentence)  # type: ignore[attr-defined]
        for check, rule in checks
        for node in check(module)
        if not module.lets_through(node, rule)
    }
    return [f"{file}:{line}: {sentence}" for line, sentence in sorted(found)]


class _Module:
    """A parsed file, with what its names stand for."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.tree = ast.parse(text, file)
        self.nodes = list(ast.walk(self.tree))
        self.is_test = Path(file).name.startswith("test_")
        self.has_clock = any(word in text for word in ("import time", "from time", "sleep", "datetime", "timezone"))
        """Whether it may read a clock or sleep: most do not, and are not searched."""
        self._lines = text.splitlines()
        self._imported: dict[str, str] = {}
        for node in self.nodes:
            if isinstance(node, ast.Import):
                self._imported |= {alias.asname or alias.name: alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                self._imported |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}

    def name(self, node: ast.AST) -> str:
        """Full name of what an expression such as ``datetime.now`` stands for, empty for other expressions."""
        if isinstance(node, ast.Name):
            return self._imported.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            return f"{self.name(node.value)}.{node.attr}"
        return ""

    def reads_clock(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and self.name(node.func) in CLOCKS

    def lets_through(self, node: ast.AST, rule: Rule) -> bool:
        lines = self._lines[node.lineno - 1 : node.end_lineno]  # type: ignore[attr-defined]
        return bool(rule.word) and any(re.search(rf"# {rule.word}: \S", line) for line in lines)

    def is_timed(self, marked: list[ast.expr]) -> bool:
        """Whether the mark ``timed`` is among decorators or the values of ``pytestmark``."""
        return any(self.name(node) == "pytest.mark.timed" for one in marked for node in ast.walk(one))

    @property
    def module_marks(self) -> list[ast.expr]:
        return [
            node.value
            for node in self.tree.body
            if isinstance(node, ast.Assign) and any(self.name(target) == "pytestmark" for target in node.targets)
        ]

    @property
    def tests(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        for node in self.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                yield node


def _at_import(node: ast.AST) -> Iterator[ast.AST]:
    """Everything that is evaluated when a module is imported: bodies of functions are not."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            for part in (*child.decorator_list, *child.args.defaults, *filter(None, child.args.kw_defaults)):
                yield part
                yield from _at_import(part)
        elif not isinstance(child, ast.Lambda):
            yield child
            yield from _at_import(child)


def _clocks_at_import(module: _Module) -> Iterator[ast.AST]:
    nodes = _at_import(module.tree) if module.has_clock else ()
    return (node for node in nodes if module.reads_clock(node))


def _sleeps(module: _Module) -> Iterator[ast.AST]:
    for test in module.tests if module.is_test and module.has_clock else ():
        for node in _own_nodes(test):
            if isinstance(node, ast.Call) and module.name(node.func) in ("time.sleep", "asyncio.sleep"):
                seconds = node.args[0] if node.args else None
                if not (isinstance(seconds, ast.Constant) and seconds.value == 0):
                    yield node


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """What a function does itself; what it defines, such as a stand-in that is slow, is called by others."""
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, (*FUNCTIONS, ast.ClassDef)):
            yield child
            yield from _own_nodes(child)


def _elapsed(module: _Module) -> Iterator[ast.AST]:
    if not module.has_clock or module.file.startswith(BENCH) or module.is_timed(module.module_marks):
        return
    timed = {
        inner
        for node in module.nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and module.is_timed(node.decorator_list)
        for inner in ast.walk(node)
    }
    for function in module.nodes:
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and function not in timed:
            yield from _elapsed_in(module, function)


def _elapsed_in(module: _Module, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.AST]:
    moments = _holders(function, lambda node: module.reads_clock(node))

    def is_moment(node: ast.AST) -> bool:
        return module.reads_clock(node) or (isinstance(node, ast.Name) and node.id in moments)

    def is_difference(node: ast.AST) -> bool:
        return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and is_moment(node.left)

    durations = _holders(function, is_difference)
    for node in ast.walk(function):
        if not isinstance(node, ast.Assert):
            continue
        for comparison in ast.walk(node.test):
            if isinstance(comparison, ast.Compare) and any(isinstance(order, ORDERS) for order in comparison.ops):
                parts = [part for side in (comparison.left, *comparison.comparators) for part in ast.walk(side)]
                if any(is_difference(part) or (isinstance(part, ast.Name) and part.id in durations) for part in parts):
                    yield node


def _holders(function: ast.AST, holds: Callable[[ast.AST], bool]) -> set[str]:
    """Variables that are assigned, or lists that are appended, an expression in which ``holds`` is true of a part."""
    found = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(map(holds, ast.walk(node.value))):
                found |= {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}
        elif (name := _appended(node)) and any(map(holds, ast.walk(node))):
            found.add(name)
    return found


def _appended(node: ast.AST) -> str:
    """Name of the list that a call appends to, empty for anything else."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append":
        return node.func.value.id if isinstance(node.func.value, ast.Name) else ""
    return ""


def _firsts(module: _Module) -> Iterator[ast.AST]:
    if not module.file.startswith(BROWSERS):
        return
    lists = _holders(module.tree, _is_list)
    for node in module.nodes:
        if isinstance(node, ast.Subscript) and _is(node.slice, 0):
            if _is_list(node.value) or (isinstance(node.value, ast.Name) and node.value.id in lists):
                yield node
        elif _is_first(node) and _finds_rows(node):
            yield node


def _is_first(node: ast.AST) -> bool:
    """Whether it is a locator's ``first`` or ``nth(0)``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "nth":
        return bool(node.args) and _is(node.args[0], 0)
    return isinstance(node, ast.Attribute) and node.attr == "first"


def _is_list(node: ast.AST) -> bool:
    """Whether it is a whole list of the installation: ``api.get("/runs")["data"]``, but nothing of one object."""
    if not (isinstance(node, ast.Subscript) and _is(node.slice, "data") and isinstance(node.value, ast.Call)):
        return False
    path = node.value.args[0] if node.value.args else None
    return isinstance(path, ast.Constant) and not str(path.value).startswith(UNCHANGING)


def _finds_rows(locator: ast.AST) -> bool:
    """Whether one of a chain of locators names rows of a table."""
    return any(
        isinstance(one, ast.Call)
        and isinstance(one.func, ast.Attribute)
        and one.func.attr in ("get_by_role", "get_by_test_id")
        and any(isinstance(argument, ast.Constant) and ROWS.search(str(argument.value)) for argument in one.args)
        for one in ast.walk(locator)
    )


def _is(node: ast.AST, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value == value


def _changes(module: _Module) -> Iterator[ast.AST]:
    if not module.is_test:
        return
    for node in module.nodes:
        changed: list[ast.expr] = []
        if isinstance(node, ast.Assign | ast.Delete):
            changed = [target.value for target in node.targets if isinstance(target, ast.Subscript)]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGES:
            changed = [node.func.value]
        if any(module.name(one) in SHARED for one in changed):
            yield node


def _program_timeouts(module: _Module) -> Iterator[ast.AST]:
    if not module.is_test:
        return
    for node in module.nodes:
        if isinstance(node, ast.Call) and any(keyword.arg == "timeout" for keyword in node.keywords):
            is_method = isinstance(node.func, ast.Attribute) and node.func.attr == "communicate"
            if is_method or module.name(node.func) in PROGRAMS:
                yield node


def _reruns(module: _Module) -> Iterator[ast.AST]:
    return (node for node in module.nodes if module.name(node) in RERUNS)


def main() -> int:
    """Print the faults of all tests; exit status 1 if there are any."""
    found = [
        line
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for line in faults(path.relative_to(ROOT).as_posix(), path.read_text())
    ]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
