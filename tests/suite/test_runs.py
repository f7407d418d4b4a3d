"""Runs of a small suite with the plug-in: what is left out, recorded, refused and printed."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.suite.digests import ROOT

pytestmark = pytest.mark.expensive(
    40,
    "each case is two or three runs of pytest in processes of their own",
    about=("tests/suite", "tests/conftest.py", "pyproject.toml"),
)

CHEAP = "def test_cheap() -> None: pass\n"
ABOUT = """
import pytest
pytestmark = pytest.mark.expensive(2, "a stand-in", about=("engine",))
def test_one() -> None: pass
@pytest.mark.parametrize("number", [1, 2])
def test_two(number: int) -> None: pass
@pytest.mark.loud
def test_loud() -> None: pass
"""
OPTIONS = """[pytest]
addopts = --import-mode=importlib --strict-markers -q -p no:django
pythonpath = .
markers =
    expensive
    loud
    live
"""


class Suite:
    """A repository with this plug-in, one folder of sources and two test files."""

    def __init__(self, root: Path) -> None:
        self.root = root
        shutil.copytree(ROOT / "tests" / "suite", root / "tests" / "suite", ignore=shutil.ignore_patterns("test_*"))
        self.write("pytest.ini", OPTIONS)
        self.write("requirements/runtime.lock", "a==1\n")
        self.write("requirements/dev.lock", "b==1\n")
        self.write("tests/conftest.py", 'pytest_plugins = ("tests.suite.plugin",)\n')
        self.write("tests/test_cheap.py", CHEAP)
        self.write("tests/test_about.py", ABOUT)
        self.write("engine/start.py", "SPEED = 1\n")

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run(self, *arguments: str, status: int = 0) -> str:
        """What a run of pytest prints."""
        own = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTEST_", "DRESSAGE_", "DJANGO_"))
        }
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "tests", *arguments],
            cwd=self.root, env=own | {"PYTHONPATH": str(self.root)}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    return Suite(tmp_path)


def test_what_has_passed_runs_again_only_when_its_subject_changes(suite: Suite) -> None:
    assert "4 passed, 1 deselected" in suite.run("--tier", "change")
    assert "4 passed" in suite.run("-n", "2", "--tier", "long", "--record")
    said = suite.run("-n", "2", "--tier", "change")
    assert "1 passed" in said and "3 expensive tests left out" in said
    assert "tests/test_about.py, about engine" in said
    suite.write("engine/start.py", "SPEED = 2\n")
    assert "4 passed" in suite.run("--tier", "change")


@pytest.mark.parametrize("name", ["tests/test_about.py", "requirements/dev.lock", "tests/conftest.py"])
def test_a_change_of_the_test_or_of_a_package_runs_it_again(suite: Suite, name: str) -> None:
    suite.run("--tier", "long", "--record")
    assert "1 passed, 4 deselected" in suite.run("--tier", "change")
    (suite.root / name).write_text((suite.root / name).read_text() + "# changed\n")
    assert "4 passed, 1 deselected" in suite.run("--tier", "change")


def test_only_a_file_that_passed_in_whole_is_recorded(suite: Suite) -> None:
    suite.write(
        "tests/test_about.py", ABOUT.replace("def test_one() -> None: pass", "def test_one() -> None: assert 0")
    )
    suite.run("--tier", "long", "--record", status=1)
    assert json.loads((suite.root / "tests" / "passed.json").read_text()) == {}
    suite.write("tests/test_about.py", ABOUT)
    suite.run("--tier", "long", "--record", "-k", "two")
    assert "4 passed" in suite.run("--tier", "change")


def test_loud_tests_run_alone(suite: Suite) -> None:
    assert "1 passed, 4 deselected" in suite.run("--tier", "loud")
    assert "5 passed" in suite.run()


@pytest.mark.parametrize("processes", ["0", "2"])
def test_a_costly_test_without_a_mark_is_refused(suite: Suite, processes: str) -> None:
    costs = {"files": {"tests/test_cheap.py": 1.5}, "fixtures": {}, "tests": {"tests/test_cheap.py::test_cheap": 1.5}}
    suite.write("tests/costs.json", json.dumps(costs))
    said = suite.run("-n", processes, "--tier", "change", status=4)
    assert "cost more than 1 s of processor time" in said and "1.5 s  tests/test_cheap.py::test_cheap" in said
    assert " passed" not in said


def test_a_suite_over_its_budget_names_the_most_expensive_tests(suite: Suite) -> None:
    suite.write("tests/test_always.py", CHEAP.replace("def", '@__import__("pytest").mark.expensive(4000, "long")\ndef'))
    said = suite.run("--tier", "change", status=4)
    assert "the budget is 3,000 s" in said and "4000.0 s  tests/test_always.py::test_cheap" in said


def test_what_costs_far_more_than_it_declares_fails_the_run(suite: Suite) -> None:
    burn = "import time\ndef test_burns() -> None:\n    end = time.process_time() + 4.2\n"
    suite.write("tests/test_burns.py", burn + "    while time.process_time() < end: pass\n")
    told = "tests/test_burns.py::test_burns, which declares 1 s"
    assert told in suite.run("--tier", "change")  # it is not measured yet
    suite.write("tests/costs.json", json.dumps({"files": {"tests/test_burns.py": 0.5}, "fixtures": {}, "tests": {}}))
    assert told in suite.run("--tier", "change")  # imports may have cost that
    plugin = suite.root / "tests" / "suite" / "plugin.py"
    plugin.write_text(plugin.read_text().replace("= 4.0, 4.0, 30.0", "= 4.0, 4.0, 4.0"))
    said = suite.run("--tier", "change", status=1)
    assert told in said and "5 passed" in said


def test_costs_count_children_and_charge_shared_fixtures_for_themselves(suite: Suite) -> None:
    burn = "import time\nend = time.process_time() + 0.5\nwhile time.process_time() < end: pass\n"
    suite.write("tests/test_burns.py", f'''
import subprocess, sys, pytest
@pytest.fixture(scope="module")
def shared():
    subprocess.run([sys.executable, "-c", {burn!r}], check=True)
def test_first(shared) -> None: pass
def test_second(shared) -> None: subprocess.run([sys.executable, "-c", {burn!r}], check=True)
''')  # fmt: skip
    suite.run("--costs", str(suite.root / "costs.json"))
    costs = json.loads((suite.root / "costs.json").read_text())
    assert list(costs["tests"]) == ["tests/test_burns.py::test_second"]
    assert 0.5 <= costs["tests"]["tests/test_burns.py::test_second"] < 2
    assert 0.5 <= costs["fixtures"]["tests/test_burns.py::shared"] < 2


@pytest.mark.parametrize(
    ("mark", "fault"),
    [
        ('2, "why", about=("nowhere",)', "there is no nowhere"),
        ('2, "why", about="engine"', "the folders as a tuple"),
        ('2, ""', "a reason"),
        ("2", "missing 1 required positional argument"),
    ],
)
def test_a_wrong_mark_is_refused(suite: Suite, mark: str, fault: str) -> None:
    suite.write("tests/test_about.py", f"import pytest\n@pytest.mark.expensive({mark})\n{CHEAP}")
    said = suite.run("--tier", "change", status=4)
    assert "tests/test_about.py::test_cheap: the mark `expensive` is wrong" in said and fault in said


def test_two_live_tests_never_overlap(suite: Suite) -> None:
    suite.write("tests/test_about.py", ABOUT)
    for name in ("first", "second"):
        suite.write(f"tests/test_{name}.py", f'''
import os, pytest, time
from pathlib import Path
@pytest.mark.live
@pytest.mark.parametrize("number", range(5))
def test_live(number) -> None:
    taken = Path({str(suite.root / "taken")!r})
    os.close(os.open(taken, os.O_CREAT | os.O_EXCL))
    time.sleep(0.02)
    taken.unlink()
''')  # fmt: skip
    assert "10 passed" in suite.run("-n", "2", "-k", "test_live")
