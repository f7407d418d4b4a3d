"""What each test costs: its processor time, measured with everything that it starts.

A test is charged for its own set-up, its call and its teardown. A fixture that several tests share is charged for what
it does itself, so no test pays for having come first. ``--costs FILE`` writes what was measured.
"""

import json
from collections import defaultdict
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.suite.processor_time import family_seconds

LEDGER = Path(__file__).parents[1] / "costs.json"
"""The committed costs; ``make test-long`` writes it."""
LISTED_FROM = 0.25
"""Cheaper tests are in their file's sum alone, which keeps the ledger short enough to read."""
CHEAP = 1.0
"""Processor seconds that a test without a mark may cost."""
TEST, FIXTURES = "cost", "fixture_costs"


class Meter:
    """Reads the processor time between the phases of tests, in the process that runs them."""

    def __init__(self) -> None:
        self._last = 0.0
        self._test = 0.0
        self._fixtures: dict[str, float] = defaultdict(float)

    def _passed(self) -> float:
        """Processor seconds since the last reading."""
        now = family_seconds()
        passed, self._last = max(0.0, now - self._last), now
        return passed

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Generator[None, object, object]:
        """Start counting with the test, not with what collected it."""
        self._passed()
        self._test, self._fixtures = 0.0, defaultdict(float)
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, object, object]:
        """Charge a shared fixture for its own set-up, without that of the fixtures it asks for."""
        if fixturedef.scope == "function":
            return (yield)
        self._test += self._passed()
        try:
            return (yield)
        finally:
            self._charge(fixturedef)

    @pytest.hookimpl(trylast=True)
    def pytest_fixture_post_finalizer(self, fixturedef: Any) -> None:
        """Charge a fixture for its teardown: one of a single test to that test."""
        if fixturedef.scope == "function":
            self._test += self._passed()
        else:
            self._charge(fixturedef)

    def _charge(self, fixturedef: Any) -> None:
        self._fixtures[f"{fixturedef.baseid or 'tests'}::{fixturedef.argname}"] += self._passed()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
        """Write the sums into the report of the last phase, which also travels from another process."""
        report = yield
        self._test += self._passed()
        if call.when == "teardown":
            report.user_properties.append((TEST, round(self._test, 3)))
            report.user_properties.append((FIXTURES, {name: round(cost, 3) for name, cost in self._fixtures.items()}))
        return report


class Ledger:
    """Costs of tests and fixtures, as measured in one run."""

    def __init__(self) -> None:
        self.tests: dict[str, float] = {}
        self.fixtures: dict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the sums out of the reports, in the process that prints."""
        found = dict(report.user_properties)
        if report.when == "teardown" and TEST in found:
            self.tests[report.nodeid] = float(found[TEST])  # type: ignore[arg-type]
            for name, cost in found[FIXTURES].items():  # type: ignore[attr-defined]
                self.fixtures[name] += cost

    def dearest(self, count: int) -> list[tuple[str, float]]:
        """The most expensive tests, dearest first."""
        return sorted(self.tests.items(), key=lambda entry: -entry[1])[:count]

    def merge_into(self, path: Path) -> None:
        """Replace what the file says of the test files that were run."""
        stored = read(path)
        files: dict[str, float] = defaultdict(float)
        for name, cost in self.tests.items():
            files[name.partition("::")[0]] += cost
        once = self._dear_once(stored)
        kept = {name: cost for name, cost in stored["tests"].items() if name.partition("::")[0] not in files}
        before = {name: stored["tests"].get(name, 0.0) for name in once}
        listed = {name: cost for name, cost in (self.tests | before).items() if cost >= LISTED_FROM}
        document = {
            "files": stored["files"] | files,
            "fixtures": stored["fixtures"] | {n: c for n, c in self.fixtures.items() if c >= LISTED_FROM},
            "once": once,
            "tests": kept | listed,
        }
        document = {
            part: {name: round(cost, 2) for name, cost in sorted(costs.items()) if _exists(name)}
            for part, costs in document.items()
        }
        path.write_text(json.dumps(document, indent=0, ensure_ascii=False) + "\n")

    def _dear_once(self, stored: dict[str, dict[str, float]]) -> dict[str, float]:
        """Tests that were cheap and are not now. The second time in a row they count.

        The first test of a process pays for the imports of the others, and on a busy machine all cost more.
        """
        known, seen = stored["files"].keys(), stored.get("once", {})
        return {
            name: cost
            for name, cost in self.tests.items()
            if cost > CHEAP
            and name.partition("::")[0] in known
            and stored["tests"].get(name, 0.0) <= CHEAP
            and name not in seen
        }


def read(path: Path = LEDGER) -> dict[str, dict[str, float]]:
    """Processor seconds of ``files`` (sums), of ``fixtures``, and of the ``tests`` that are listed singly."""
    if not path.exists():
        return {"files": {}, "fixtures": {}, "once": {}, "tests": {}}
    return dict(json.loads(path.read_text()))


def _exists(name: str) -> bool:
    return (LEDGER.parents[1] / name.partition("::")[0]).exists()


def _lines(costs: Iterator[tuple[str, float]]) -> list[str]:
    return [f"  {cost:7.1f} s  {name}" for name, cost in costs]


def table(costs: list[tuple[str, float]]) -> str:
    """Costs and names, a line each."""
    return "\n".join(_lines(iter(costs)))
