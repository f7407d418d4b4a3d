"""The suite's own plug-in for pytest: tiers, prices, leases and progress. ``tests/conftest.py`` loads it."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.suite import costs, leases, tiers
from tests.suite.progress import Progress

DECLARED = "declared"
SELECTION, REFUSAL = pytest.StashKey[tiers.Selection](), pytest.StashKey[str]()
GROUPS, LEFT_OUT = "groups", "left_out"
OVERRUN, REPORTED_FROM, FAILS_FROM = 4.0, 4.0, 30.0
"""A test that costs so many times what it declares is reported from 4 s on, and fails the run from 30 s on, once the
ledger has measured its file. Between them lie the imports that the first test in a process pays for."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of ``make test`` and ``make test-long``."""
    ours = parser.getgroup("dressage")
    ours.addoption("--tier", choices=tiers.TIERS, help="which tests: see tests/suite/tiers.py; all by default")
    ours.addoption("--costs", type=Path, metavar="FILE", help="write what the tests cost into this ledger")
    ours.addoption("--record", action="store_true", help="record which expensive tests passed, with --tier long")


def pytest_configure(config: pytest.Config) -> None:
    """Load the parts: a meter and leases in whatever runs tests, the report in whatever prints."""
    leases.share_folder()
    config.pluginmanager.register(leases, "dressage-leases")
    config.pluginmanager.register(costs.Meter(), "dressage-meter")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Report(config), "dressage-report")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Take the tests of the tier, after everything else has chosen, and refuse a suite over its budget."""
    tier = config.getoption("tier")
    if tier is None:
        return
    try:
        selection = tiers.select(items, tier)
        if tier == "change":
            tiers.check_prices(selection.taken)
    except pytest.UsageError as refusal:
        if not hasattr(config, "workeroutput"):
            raise
        # From here the refusal could not reach the terminal: this process runs nothing, and hands it on.
        config.stash[REFUSAL] = str(refusal)
        items.clear()
        return
    config.stash[SELECTION] = selection
    dropped = [*selection.loud, *(item for group in selection.left_out.values() for item in group)]
    if dropped:
        config.hook.pytest_deselected(items=dropped)
    items[:] = selection.taken


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand what was selected to the process that prints; a process that only runs tests cannot do so itself."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output.update(_selected(session.config), refusal=session.config.stash.get(REFUSAL, ""))


def _selected(config: pytest.Config) -> dict[str, Any]:
    """Groups of expensive tests that run, and the numbers of those that were left out, as plain values."""
    selection = config.stash.get(SELECTION, None)
    if selection is None:
        return {GROUPS: [], LEFT_OUT: []}
    groups: dict[tiers.Group, list[str]] = defaultdict(list)
    for item in selection.taken:
        said = tiers.price(item)
        if said is not None and said.about:
            groups[tiers.group(item, said)].append(item.nodeid)
    left_out = []
    for group, items in selection.left_out.items():
        seconds = sum(said.cpu_seconds for said in map(tiers.price, items) if said)
        left_out.append([group.file, list(group.about), len(items), seconds])
    return {GROUPS: [[one.file, list(one.about), names] for one, names in groups.items()], LEFT_OUT: left_out}


class Report:
    """Prints progress and the summary, and writes the ledger and the record, in the process that has the terminal."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._ledger = costs.Ledger()
        self._progress = Progress(self._say, costs.read())
        self._selected: Mapping[str, Any] = {GROUPS: [], LEFT_OUT: []}
        self._passed: set[str] = set()
        self._failed: set[str] = set()
        self._overrun: list[str] = []
        self._overran = False
        self._measured_files = costs.read()["files"].keys()
        self._refusal = ""
        self._declared: dict[str, float] = {}

    def _say(self, line: str) -> None:
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if self._config.getoption("tier") and reporter is not None:
            reporter.write_line(f"{datetime.now(UTC):%H:%M:%S} {line}")

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """See xdist."""
        self._progress.collected(ids)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Without xdist, this process has collected them itself."""
        if session.items:
            self._progress.collected(item.nodeid for item in session.items)

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """No dot for a test that passes in a tier: progress is told in words."""
        if self._config.getoption("tier") and report.when == "call" and report.passed:
            return "passed", "", "PASSED"
        return None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count what has ended."""
        self._ledger.pytest_runtest_logreport(report)
        if report.failed:
            self._failed.add(report.nodeid)
        if report.when == "teardown":
            self._passed.add(report.nodeid)
            declared: Any = dict(report.user_properties).get(DECLARED, costs.CHEAP)
            self._declared[report.nodeid] = declared
            self._progress.finished(report.nodeid, report.nodeid in self._failed)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """See xdist: what its process had selected."""
        output = getattr(node, "workeroutput", None) or {}
        self._refusal = self._refusal or output.get("refusal", "")
        if output.get(GROUPS) or output.get(LEFT_OUT):
            self._selected = output

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a run with tests that cost far more than they declare, and write what was asked for."""
        if not (self._selected[GROUPS] or self._selected[LEFT_OUT]):
            self._selected = _selected(self._config)
        for name, cost in self._ledger.dearest(len(self._ledger.tests)):
            if cost > max(REPORTED_FROM, OVERRUN * self._declared.get(name, costs.CHEAP)):
                self._overrun.append(f"  {cost:7.1f} s  {name}, which declares {self._declared[name]:g} s")
                # What was never measured alone on a machine declares a guess: it is reported, and fails nothing.
                self._overran |= cost > FAILS_FROM and name.partition("::")[0] in self._measured_files
        if self._overran and self._config.getoption("tier") == "change" and session.exitstatus == 0:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        if self._refusal:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
        if path := self._config.getoption("costs"):
            self._ledger.merge_into(path)
        if self._config.getoption("record") and self._config.getoption("tier") == "long" and self._is_whole():
            passed = self._passed - self._failed
            groups = [tiers.Group(file, tuple(about)) for file, about, names in self._selected[GROUPS]
                      if passed.issuperset(names)]  # fmt: skip
            tiers.record(groups)

    def _is_whole(self) -> bool:
        """Whether files were run as a whole: nothing was selected inside them."""
        chosen = self._config.option.keyword or self._config.option.markexpr
        return not chosen and not any("::" in argument for argument in self._config.args)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """What was left out and why, and what cost most."""
        if not self._config.getoption("tier"):
            return
        if self._refusal:
            terminalreporter.write_line(f"ERROR: {self._refusal}", red=True)
            return
        if left_out := self._selected[LEFT_OUT]:
            count, seconds = sum(entry[2] for entry in left_out), sum(entry[3] for entry in left_out)
            terminalreporter.section(f"{count} expensive tests left out, {seconds / 60:.0f} min of processor time")
            terminalreporter.write_line("What these are about has not changed since they passed (tests/passed.json):")
            for file, about, number, _ in sorted(left_out):
                terminalreporter.write_line(f"  {number:4}  {file}, about {', '.join(about)}")
        total, shared = sum(self._ledger.tests.values()), sum(self._ledger.fixtures.values())
        terminalreporter.section(
            f"the ten most expensive of {len(self._ledger.tests):,} tests; all took {total / 60:.1f} min of processor "
            f"time, shared fixtures {shared / 60:.1f}"
        )
        terminalreporter.write_line(costs.table(self._ledger.dearest(10)))
        if self._overrun:
            terminalreporter.section(f"tests that cost over {OVERRUN:g} times what they declare")
            terminalreporter.write_line("\n".join(self._overrun))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Send along what the test says that it costs."""
    report = yield
    said = tiers.price(item)
    if call.when == "teardown" and said is not None:
        report.user_properties.append((DECLARED, said.cpu_seconds))
    return report
