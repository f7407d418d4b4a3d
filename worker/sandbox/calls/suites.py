"""Tests written for unittest or pytest, run in the tests' jail, with a verdict for each of their cases."""

import inspect
import io
import sys
from collections.abc import Sequence
from typing import Any

Verdict = bool | str
_FILE = "test_solution.py"


def unittests(setup: str, test: str, space: dict[str, Any], names: Sequence[str], doubts: list[str]) -> list[Verdict]:
    """Verdicts on the cases of every TestCase in ``test``."""
    import unittest

    fault = _executed(setup, test, space)
    if fault is not None:
        return [fault]
    kinds = [
        value
        for value in space.values()
        if isinstance(value, type) and issubclass(value, unittest.TestCase) and value.__module__ == "test"
    ]
    loader = unittest.TestLoader()
    found: list[Verdict] = []
    for suite in map(loader.loadTestsFromTestCase, kinds):
        for case in suite:
            doubts.clear()
            result = unittest.TestResult()
            try:
                unittest.TestSuite([case]).run(result)
            except BaseException:
                found.append(False)
                continue
            failed = result.failures or result.errors or result.unexpectedSuccesses
            found.append(doubts[0] if doubts else not failed)
    return found or ["a test for unittest holds no cases"]


def pytests(setup: str, test: str, space: dict[str, Any], names: Sequence[str], doubts: list[str]) -> list[Verdict]:
    """Verdicts on the cases that pytest finds in ``test``; simple functions run without pytest."""
    if "pytest" not in test and "pytest" not in setup:
        fault = _executed(setup, test, space)
        if fault is not None:
            return [fault]
        cases = _simple_cases(space)
        if cases is not None:
            return [_passes(case, doubts) for case in cases] or ["a test for pytest holds no cases"]
    return _with_pytest(setup, test, names, doubts)


def _executed(setup: str, test: str, space: dict[str, Any]) -> Verdict | None:
    """Run the test module. Returns what is wrong with it."""
    try:
        exec(compile(setup, "<setup>", "exec"), space)  # nosec B102
        exec(compile(test, "<test>", "exec"), space)  # nosec B102
    except ModuleNotFoundError as error:
        return f"a test cannot run in the jail: {error}"
    except BaseException:
        return False
    return None


def _simple_cases(space: dict[str, Any]) -> list[Any] | None:
    """Test functions and methods; None if one requires something that only pytest provides."""
    found: list[Any] = []
    for name, value in list(space.items()):
        if name.startswith("test") and inspect.isfunction(value):
            found.append(value)
        elif name.startswith("Test") and isinstance(value, type) and value.__module__ == "test":
            methods = [one for one in vars(value) if one.startswith(("setup", "teardown"))]
            if methods:
                return None
            found += [getattr(value(), one) for one in vars(value) if one.startswith("test")]
    if any(inspect.signature(case).parameters or inspect.iscoroutinefunction(case) for case in found):
        return None
    return found


def _passes(case: Any, doubts: list[str]) -> Verdict:
    doubts.clear()
    try:
        case()
    except BaseException:
        return doubts[0] if doubts else False
    return doubts[0] if doubts else True


class _Recorder:
    """Pytest plug-in that records the outcome of each case."""

    def __init__(self, doubts: list[str]) -> None:
        self._doubts = doubts
        self.verdicts: dict[str, Verdict] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Record that a phase of a case has ended."""
        before = self.verdicts.get(report.nodeid, True)
        passed = before is True and (report.passed or (report.skipped and hasattr(report, "wasxfail")))
        self.verdicts[report.nodeid] = self._doubts[0] if self._doubts else passed
        if report.when == "teardown":
            self._doubts.clear()

    def pytest_collectreport(self, report: Any) -> None:
        """Record that a file or class was collected."""
        if report.failed:
            self.verdicts[report.nodeid] = False


def _with_pytest(setup: str, test: str, names: Sequence[str], doubts: list[str]) -> list[Verdict]:
    try:
        import pytest
    except ModuleNotFoundError as error:
        return [f"tests for pytest cannot run on this machine: {error}"]
    shown = [name for name in names if name.isidentifier() and name[:1] != "_"]
    head = f"from solution import {', '.join(shown)}\n" if shown else ""
    with open(_FILE, "w") as file:
        file.write(f"{head}{setup}\n{test}\n")
    recorder, output = _Recorder(doubts), (sys.stdout, sys.stderr)
    sys.stdout = sys.stderr = io.StringIO()
    for name in [name for name in sys.modules if name == "test_solution"]:
        del sys.modules[name]
    try:
        arguments = [
            "-q",
            "-p",
            "no:cacheprovider",
            "--noconftest",
            "--import-mode=importlib",
            "--rootdir=.",
            "-c",
            "/dev/null",
            _FILE,
        ]
        pytest.main(arguments, plugins=[recorder])
    except BaseException:
        recorder.verdicts[_FILE] = False
    finally:
        sys.stdout, sys.stderr = output
    return list(recorder.verdicts.values()) or ["a test for pytest holds no cases"]
