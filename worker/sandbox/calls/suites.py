"""Tests written for unittest or pytest, run in the tests' jail, with a verdict for each of their cases.

A case passes if it ran to its end without failing. A case that is skipped or expected to fail, and not because of
anything that the program did, is left out. Simple modules for pytest run without it (``plain_cases``): the slow path,
pytest itself, decides about all others.
"""

import sys
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from worker.sandbox.calls import plain_cases, stand_ins
from worker.sandbox.calls.real_pytest import run_pytest

if TYPE_CHECKING:
    from worker.sandbox.calls.assertions import Judge, Names, Space

Verdict = bool | str
Path = Literal["fast", "slow"]
TEST_MODULE = "test"
"""Name of the module that a test runs as, except under pytest."""
_ALL_LEFT_OUT = "every case of a test is skipped or expected to fail, so it says nothing about the program"


@dataclass(frozen=True, slots=True)
class TestRun:
    """A test and everything that it runs with."""

    line: "Judge"
    names: "Names"
    space: "Space"
    setup: str
    test: str
    conftest: str = ""
    """Text of the ``conftest.py`` next to the test; empty if there is none."""


@dataclass(slots=True)
class CaseVerdicts:
    """Verdicts on the cases of a test."""

    verdicts: list[Verdict | None] = field(default_factory=list)
    """None for a case that is left out."""
    path: Path = "fast"

    def counted(self, framework: str) -> list[Verdict]:
        """The verdicts that count: at least one, an error if no case says anything."""
        counted = [verdict for verdict in self.verdicts if verdict is not None]
        if counted:
            return counted
        return [_ALL_LEFT_OUT if self.verdicts else f"a test for {framework} holds no cases"]


def unittests(run: TestRun) -> CaseVerdicts:
    """Verdicts on the cases that unittest loads from the test."""
    import unittest

    with_main, unittest.main = unittest.main, _quiet_main  # type: ignore[assignment]
    try:
        touched, fault = run.line.touched, _executed(run)
    finally:
        unittest.main = with_main
    if fault is not None:
        return CaseVerdicts([fault])
    module = sys.modules[TEST_MODULE]
    return CaseVerdicts(
        _run_suite(run.line, unittest.TestLoader().loadTestsFromModule(module), run.line.touched > touched)
    )


def pytests(run: TestRun) -> CaseVerdicts:
    """Verdicts on the cases that pytest finds in the test."""
    counted = None if run.conftest else plain_cases.count(f"{run.setup}\n{run.test}")
    if counted is not None:
        touched, fault = run.line.touched, _executed(run)
        if fault is not None:
            return CaseVerdicts([fault])
        functions, cases = plain_cases.collect(run.space)
        if len(functions) + cases.countTestCases() == counted:
            influenced = run.line.touched > touched
            verdicts: list[Verdict | None] = [_passes(run.line, function) for function in functions]
            return CaseVerdicts(verdicts + _run_suite(run.line, cases, influenced))
    return pytest_itself(run)


def pytest_itself(run: TestRun) -> CaseVerdicts:
    """Verdicts as pytest gives them, however simple the module is."""
    return CaseVerdicts(run_pytest(run.line, run.names, run.setup, run.test, run.conftest), "slow")


def _executed(run: TestRun) -> Verdict | None:
    """Run the test module. Returns what is wrong with it."""
    sys.modules[TEST_MODULE] = TestModule(TEST_MODULE, run.space)
    try:
        exec(compile(run.setup, "<setup>", "exec"), run.space)  # nosec B102
        exec(compile(run.test, "<test>", "exec"), run.space)  # nosec B102
    except ModuleNotFoundError as error:
        return f"a test cannot run in the jail: {error}" if stand_ins.number_of(error) is None else False
    except BaseException:
        return False
    return None


class TestModule(types.ModuleType):
    """The test as a module, as far as unittest looks for it."""

    def __init__(self, name: str, space: dict[str, Any]) -> None:
        super().__init__(name)
        self.__dict__["_space"] = space

    def __getattr__(self, name: str) -> Any:
        if name not in self._space.keys():  # noqa: SIM118 - what the program defines is no attribute of the test
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return self._space[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self._space[name] = value

    def __delattr__(self, name: str) -> None:
        del self._space[name]

    def __dir__(self) -> list[str]:
        return list(self._space)


def _quiet_main(*_: Any, **__: Any) -> None:
    """Replaces ``unittest.main`` while a test is loaded: its cases run afterwards."""


def _passes(line: "Judge", case: Callable[[], Any]) -> Verdict:
    line.doubts.clear()
    try:
        case()
        passed = True
    except BaseException:
        passed = False
    return line.doubts[0] if line.doubts else passed


def _run_suite(line: "Judge", suite: Any, influenced: bool) -> list[Verdict | None]:
    """Verdicts on the cases of a suite of unittest, in order.

    Args:
        influenced: whether the module consulted the program while it was loaded, so skips may be the program's doing.
    """
    import unittest

    class CaseOutcomes(unittest.TestResult):
        """Outcome of each case, by identity. A case without one never ran to its end."""

        def __init__(self) -> None:
            super().__init__()
            self.of: dict[int, Verdict | None] = {}
            self.touched = line.touched
            self.setups_skipped = False

        def startTest(self, test: Any) -> None:
            super().startTest(test)
            line.doubts.clear()
            self.touched = line.touched

        def addSuccess(self, test: Any) -> None:
            self._note(test, True)

        def addError(self, test: Any, err: Any) -> None:
            self._note(test, False)

        def addFailure(self, test: Any, err: Any) -> None:
            self._note(test, False)

        def addUnexpectedSuccess(self, test: Any) -> None:
            self._note(test, False)

        def addExpectedFailure(self, test: Any, err: Any) -> None:
            self._note(test, None)

        def addSkip(self, test: Any, reason: str) -> None:
            free = not influenced and line.touched == self.touched
            whole = getattr(test, "test_case", test)
            if not isinstance(whole, unittest.TestCase):  # the set-up of a class or module
                self.setups_skipped = free
            elif whole is test or not free:  # a part of a case that is left out does not decide about the case
                self._note(whole, None if free else False)

        def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
            if err is not None:
                self._note(test, False)

        def stopTest(self, test: Any) -> None:
            super().stopTest(test)
            if line.doubts:
                self.of[id(test)] = line.doubts[0]
            self.touched = line.touched

        def _note(self, test: Any, verdict: Verdict | None) -> None:
            if self.of.get(id(test), True) is True:
                self.of[id(test)] = verdict

    cases = list(_flat(suite))
    outcomes = CaseOutcomes()
    try:
        suite.run(outcomes)
    except BaseException:
        outcomes.setups_skipped = False
    unreached: Verdict | None = None if outcomes.setups_skipped else False
    return [_never_awaited(case) or outcomes.of.get(id(case), unreached) for case in cases]


def _flat(suite: Any) -> Any:
    """The cases of a suite, each kept although the suite drops it after its run."""
    for part in suite:
        if hasattr(part, "countTestCases") and hasattr(part, "__iter__"):
            yield from _flat(part)
        else:
            yield part


def _never_awaited(case: Any) -> str | None:
    """The error of a case that unittest calls, but whose body never runs."""
    import inspect
    import unittest

    method = getattr(case, getattr(case, "_testMethodName", ""), None)
    if inspect.isgeneratorfunction(method) or inspect.isasyncgenfunction(method):
        return "a case of a test is a generator, whose body never runs"
    if inspect.iscoroutinefunction(method) and not isinstance(case, unittest.IsolatedAsyncioTestCase):
        return "a case of a test is a coroutine, which TestCase does not await: IsolatedAsyncioTestCase does"
    return None


SUITES: dict[str, Callable[[TestRun], CaseVerdicts]] = {
    "unittest": unittests,
    "pytest": pytests,
    "pytest itself": pytest_itself,
}


def run(test_run: TestRun, framework: str) -> tuple[Sequence[Verdict], Path]:
    """Verdicts on a test's cases, and the path that decided."""
    found = SUITES[framework](test_run)
    return found.counted(framework), found.path
