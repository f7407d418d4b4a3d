"""Progress of a run in words, and the files that a check chooses."""

from pathlib import Path

import pytest

from tests.suite import digests
from tests.suite.check import by_distance, changed_files, within
from tests.suite.progress import Progress, expected_costs
from tests.suite.repeat import BEGIN, END, Result, read_report, table, write

FOLLOWED = ("docs", "platform/dressage/runs", "tests/docs", "tests/platform/runs", "tests/suite", "tests/worker/loop")
"""What the named files lie in, and are near to."""
LEDGER = {
    "files": {"a.py": 10.0, "b.py": 4.0},
    "fixtures": {},
    "tests": {"a.py::test_dear": 8.0},
}


def test_expected_costs() -> None:
    names = ["a.py::test_dear", "a.py::test_1", "a.py::test_2", "b.py::test_3", "new.py::test_4"]
    costs = expected_costs(names, LEDGER)
    assert [costs[name] for name in names] == [8.0, 1.0, 1.0, 4.0, 2.5]
    assert expected_costs(["new.py::test_4"], {"files": {}, "fixtures": {}, "tests": {}}) == {"new.py::test_4": 1.0}


def test_progress_counts_costs_and_not_tests() -> None:
    said: list[str] = []
    now = [0.0]
    progress = Progress(said.append, LEDGER, every=30, clock=lambda: now[0])
    progress.collected(["a.py::test_dear", "a.py::test_1", "a.py::test_2", "b.py::test_3"])
    progress.collected(["twice"])
    now[0] = 29.0
    progress.finished("a.py::test_1", failed=True)
    assert said == []
    now[0] = 480.0
    progress.finished("a.py::test_dear", failed=False)
    assert said == [" 64%  2 of 4 tests, 1 failed, about 4 min left"]
    progress.finished("b.py::test_3", failed=False)
    assert len(said) == 1
    assert progress.line().startswith(" 93%  3 of 4 tests")


@pytest.mark.expensive(12, "reads the imports of all tests and of the product", about=FOLLOWED)
def test_the_nearest_tests_come_first() -> None:
    nearest = by_distance(["platform/dressage/runs/facts/ramps.py", "docs/steering.md"])
    assert nearest["tests/platform/runs/test_ramps.py"] == 0
    assert nearest["tests/docs/test_names.py"] == 0
    assert nearest["tests/platform/runs/test_change_sets.py"] > 0
    assert "tests/kernels/test_triton.py" not in nearest
    assert list(nearest.values()) == sorted(nearest.values())
    assert by_distance([]) == {}


@pytest.mark.expensive(10, "reads the imports of all tests and of the product", about=FOLLOWED)
def test_a_changed_helper_reaches_the_tests_that_use_it() -> None:
    nearest = by_distance(["tests/support/warm_loop.py"])
    assert nearest["tests/worker/loop/test_recipes_run.py"] > 0


def test_a_digest_changes_with_the_product_and_not_with_the_consoles_tests(tmp_path: Path) -> None:
    def whole() -> str:
        digests._of_path.cache_clear()
        digests._of_file.cache_clear()
        return digests._of_path(tmp_path)

    (tmp_path / "Page.tsx").write_text("one")
    first = whole()
    (tmp_path / "Page.test.tsx").write_text("a test")
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "setup.ts").write_text("what tests share")
    assert whole() == first
    (tmp_path / "Page.tsx").write_text("two")
    assert whole() != first


def test_as_many_files_as_the_time_allows() -> None:
    nearest = {"near.py": 0, "dear.py": 1, "new.py": 1, "far.py": 2}
    assert within(nearest, 10.0, {"near.py": 6.0, "dear.py": 50.0, "far.py": 4.0}) == (
        ["near.py", "new.py"],
        ["dear.py", "far.py"],
    )


def test_changed_files_are_those_that_differ_from_a_commit() -> None:
    assert changed_files("HEAD") == changed_files(None)


def test_a_series_of_runs_as_a_table(tmp_path: Path) -> None:
    report = tmp_path / "1.xml"
    report.write_text(
        '<testsuites><testsuite><testcase classname="tests.a" name="test_1"/>'
        '<testcase classname="tests.a" name="test_2"><failure message="no"/></testcase></testsuite></testsuites>'
    )
    assert read_report(report) == (2, ["tests.a::test_2"])
    page = tmp_path / "page.md"
    page.write_text(f"Before\n{BEGIN}\nold\n{END}\nAfter\n")
    rows = [
        Result("abc", "2026-11-28 10:00", 24.31, 12_000, [], 0),
        Result("abc", "2026-11-28 10:25", 30.0, 2, ["a::b"], 1),
    ]
    write(page, table(rows))
    text = page.read_text()
    assert "| 1 | abc | 2026-11-28 10:00 | – | 24.3 | 12,000 | none |" in text
    assert "| 2 | abc | 2026-11-28 10:25 | 1 busy | 30.0 | 2 | a::b |" in text
    assert "old" not in text and text.startswith("Before\n") and text.endswith("After\n")
