"""Runs pytest itself on a test: the slow path, which decides about whatever only pytest knows."""

import builtins
import contextlib
import io
import symtable
import sys
from typing import TYPE_CHECKING, Any

from worker.sandbox.calls import stand_ins

if TYPE_CHECKING:
    from worker.sandbox.calls.assertions import Judge, Names

Verdict = bool | str
MODULE, CONFTEST = "test_solution", "conftest"
_OPTIONS = ("-q", "-p", "no:cacheprovider", "--import-mode=importlib", "--rootdir=.", "-c", "/dev/null")
_EXPECTED = "unittest.expectedFailure"
"""Keyword of a case that unittest expects to fail."""
_FINISHED = (0, 1)
"""Exit statuses of a session that has run all its tests."""


def run_pytest(line: "Judge", names: "Names", setup: str, test: str, conftest: str) -> list[Verdict | None]:
    """Verdicts on the cases that pytest collects; None for a case that is left out."""
    try:
        import pytest
    except ModuleNotFoundError as error:
        return [f"tests for pytest cannot run on this machine: {error}"]
    used = sorted(set(names) & _free_names(f"{setup}\n{test}"))
    head = f"from solution import {', '.join(used)}\n" if used else ""
    _write(f"{MODULE}.py", f"{head}{setup}\n{test}\n__import__('solution').__loaded__()\n")
    if conftest:
        used = sorted(set(names) & _free_names(conftest))
        _write(f"{CONFTEST}.py", (f"from solution import {', '.join(used)}\n" if used else "") + conftest)
    for name in [name for name in sys.modules if name in (MODULE, CONFTEST)]:
        del sys.modules[name]
    session = _CaseRecorder(line)
    sys.modules["solution"].__dict__["__loaded__"] = session.note_loaded
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            status = int(pytest.main([*_OPTIONS, *([] if conftest else ["--noconftest"]), f"{MODULE}.py"], [session]))
        except BaseException:
            status = -1
    return session.verdicts(status)


def _write(name: str, text: str) -> None:
    with io.open(name, "w") as file:  # noqa: UP020 - a test may have replaced the builtin
        file.write(text)


def _free_names(text: str) -> set[str]:
    """Names that a module uses and does not define, and that are no builtins."""
    top = symtable.symtable(text, "<test>", "exec")
    defined = {one.get_name() for one in top.get_symbols() if one.is_assigned() or one.is_imported()}
    used: set[str] = set()
    tables = [top]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        used |= {one.get_name() for one in table.get_symbols() if one.is_referenced() and one.is_global()}
        if table is top:
            used |= {one.get_name() for one in table.get_symbols() if one.is_referenced()}
    return {name for name in used - defined if not hasattr(builtins, name)}


class _CaseRecorder:
    """Plug-in of pytest that records the outcome of each case."""

    def __init__(self, line: "Judge") -> None:
        self._line = line
        self._loaded = self._touched = line.touched
        self._influenced = False
        """Whether the module consulted the program while it was loaded, so its skips may be the program's doing."""
        self._items: list[str] = []
        self._found: dict[str, Verdict | None] = {}
        self._faults: list[Verdict] = []

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Drop what the program itself calls a test."""
        items[:] = [item for item in items if stand_ins.number_of(getattr(item, "cls", None)) is None]

    def note_loaded(self) -> None:
        """Record at the end of the module that it has been loaded: pytest itself looks at the program's functions."""
        self._influenced = self._line.touched > self._loaded

    def pytest_collection_finish(self, session: Any) -> None:
        """Record which cases there are."""
        self._items = [item.nodeid for item in session.items]

    def pytest_collectreport(self, report: Any) -> None:
        """Record that the program has made a whole module skip itself."""
        if report.skipped and self._line.touched > self._loaded:
            self._faults.append(False)

    def pytest_exception_interact(self, node: Any, call: Any) -> None:
        """Record that a module cannot be loaded."""
        if call.when != "collect":
            return
        error = call.excinfo.value
        while error is not None and not isinstance(error, ModuleNotFoundError):
            error = error.__cause__ or error.__context__
        own = error is not None and stand_ins.number_of(error) is None
        self._faults.append(f"a test cannot run in the jail: {error}" if own else False)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Record that a case begins."""
        self._line.doubts.clear()
        self._touched = self._line.touched

    def pytest_itemcollected(self, item: Any) -> None:
        """Mark what unittest expects to fail."""
        if getattr(getattr(item, "obj", None), "__unittest_expecting_failure__", False):
            item.keywords[_EXPECTED] = True

    def pytest_pyfunc_call(self, pyfuncitem: Any) -> None:
        """Note a case that pytest alone cannot run."""
        import inspect

        if inspect.iscoroutinefunction(pyfuncitem.obj) or inspect.isasyncgenfunction(pyfuncitem.obj):
            self._line.doubt("a case of a test is a coroutine, which pytest alone does not run")

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Record that a phase of a case, or a part of it, has ended."""
        before = self._found.get(report.nodeid, True)
        if self._line.doubts:
            self._found[report.nodeid] = self._line.doubts[0]
        elif report.failed:
            self._found[report.nodeid] = False
        elif report.skipped and before is True:
            marked = hasattr(report, "wasxfail") and report.keywords.keys() & {"xfail", _EXPECTED}
            free = not self._influenced and (bool(marked) or self._line.touched == self._touched)
            self._found[report.nodeid] = None if free else False
        elif report.when == "call" and before is True:
            self._found[report.nodeid] = True

    def verdicts(self, status: int) -> list[Verdict | None]:
        """Verdicts on all cases collected. ``status``: the exit status of the session."""
        if self._faults:
            return [next((fault for fault in self._faults if isinstance(fault, str)), False)]
        missing = len([item for item in self._items if item not in self._found])
        if missing and status in _FINISHED:
            return [f"pytest collected {len(self._items)} tests, and {missing} of them gave no verdict"]
        if not self._items and status not in _FINISHED and status != 5:
            return [False]
        return [self._found.get(item, False) for item in self._items]
