"""``python -m tests.suite.repeat --times 20``: whole runs one after the other, each result kept, and a table of them.

A flaky test shows as a failure in a run whose neighbours passed. Every run writes ``RUNS/<n>.xml`` (JUnit) and
``RUNS/<n>.log``; a series that was interrupted continues. ``--beside 1`` keeps a core busy meanwhile.
"""

import argparse
import json
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from tests.suite.digests import ROOT
from tests.support.busy import busy

PAGE = ROOT / "docs" / "development" / "testing.md"
BEGIN, END = "<!-- runs: written by make test-repeat -->", "<!-- end of runs -->"


class Result(NamedTuple):
    """One whole run."""

    commit: str
    began: str
    minutes: float
    tests: int
    failures: list[str]
    beside: int


def main() -> int:
    """Exit status: 0 if no run had a failure."""
    parser = argparse.ArgumentParser(prog="make test-repeat", description="Repeat whole runs and keep every result.")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--beside", type=int, default=0, help="processes that compute without end beside the tests")
    parser.add_argument("--runs", type=Path, default=ROOT / ".dressage" / "runs", help="folder for results")
    parser.add_argument("--page", type=Path, help=f"write the table into this page, as {PAGE.name}")
    parser.add_argument("command", nargs="*", default=["scripts/test.sh"], help="what runs the tests")
    options = parser.parse_args()
    options.runs.mkdir(parents=True, exist_ok=True)
    for number in range(1, options.times + 1):
        kept = options.runs / f"{number}.json"
        if not kept.exists():
            with busy(options.beside) if options.beside else nullcontext():
                result = run(options.command, options.runs / f"{number}.xml", options.runs / f"{number}.log")
            kept.write_text(json.dumps(result._replace(beside=options.beside)._asdict()))
        print(table([_read(kept)]).splitlines()[-1], flush=True)
    results = [_read(options.runs / f"{number}.json") for number in range(1, options.times + 1)]
    print(table(results))
    if options.page:
        write(options.page, table(results))
    return int(any(result.failures for result in results))


def run(command: list[str], report: Path, log: Path) -> Result:
    """Run all tests once. A run that ends without a report counts as failed, under its exit status."""
    report.unlink(missing_ok=True)
    began, clock = time.strftime("%Y-%m-%d %H:%M", time.gmtime()), time.monotonic()
    with log.open("wb") as output:
        status = subprocess.run(
            [*command, f"--junitxml={report}"], cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, check=False
        ).returncode
    minutes = (time.monotonic() - clock) / 60
    tests, failures = read_report(report) if report.exists() else (0, [])
    if status and not failures:
        failures = [f"exit status {status}, see {log.name}"]
    return Result(_commit(), began, round(minutes, 1), tests, failures, 0)


def read_report(report: Path) -> tuple[int, list[str]]:
    """The number of tests of a JUnit report, and those with a failure or an error."""
    cases = list(ElementTree.parse(report).iter("testcase"))
    failed = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    return len(cases), [f"{case.get('classname')}::{case.get('name')}" for case in failed]


def table(results: list[Result]) -> str:
    """Markdown, a row each."""
    head = "| run | commit | began (UTC) | beside it | minutes | tests | failures |\n|---|---|---|---|---|---|---|"
    rows = [
        f"| {number} | {one.commit} | {one.began} | {f'{one.beside} busy' if one.beside else '–'} | {one.minutes:.1f} "
        f"| {one.tests:,} | {'<br>'.join(one.failures) or 'none'} |"
        for number, one in enumerate(results, 1)
    ]
    return "\n".join([head, *rows])


def write(page: Path, text: str) -> None:
    """Put the table between the page's two marks.

    Raises:
        ValueError: the page has no such marks.
    """
    before, begin, rest = page.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{page} has no place for the table: it wants the lines {BEGIN} and {END}")
    page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")


def _read(path: Path) -> Result:
    return Result(**json.loads(path.read_text()))


def _commit() -> str:
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
