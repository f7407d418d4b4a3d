"""The check against tests that depend on time or order sees what it is for, and lets the honest ones through."""

import pytest

from scripts.lint import waiting
from scripts.lint.waiting import CHANGE, CLOCK_AT_IMPORT, ELAPSED, FIRST, PROGRAM, RERUN, SLEEP, Rule

TEST = "tests/worker/test_it.py"
BROWSER = "tests/e2e/test_it.py"


@pytest.mark.parametrize(
    ("file", "text", "line", "rule"),
    [
        (TEST, "import time\nNOW = time.time()", 2, CLOCK_AT_IMPORT),
        (TEST, "from time import monotonic as now\nCASES = [{'at': now() + 3600}]", 2, CLOCK_AT_IMPORT),
        (TEST, "from datetime import datetime, UTC\nclass Case:\n    at = datetime.now(UTC)", 3, CLOCK_AT_IMPORT),
        (TEST, "import datetime\ndef made(day=datetime.date.today()): ...", 2, CLOCK_AT_IMPORT),
        (TEST, "from django.utils import timezone\nNOW = timezone.now()", 2, CLOCK_AT_IMPORT),
        (TEST, "import time\ndef test_a():\n    time.sleep(0.3)", 3, SLEEP),
        (TEST, "import asyncio\nasync def test_a():\n    for _ in 'ab':\n        await asyncio.sleep(1)", 4, SLEEP),
        (
            TEST,
            "import time\ndef test_a():\n    t = time.monotonic()\n    work()\n    assert time.monotonic() - t < 2",
            5,
            ELAPSED,
        ),
        (
            TEST,
            "import time\ndef test_a():\n    t = time.time()\n    took = time.time() - t\n    assert 0.1 < took",
            5,
            ELAPSED,
        ),
        (
            TEST,
            "from time import perf_counter\ndef test_a():\n    all, t = [], perf_counter()\n"
            "    all.append(perf_counter() - t)\n    assert sorted(all)[9] <= 2.0",
            5,
            ELAPSED,
        ),
        (BROWSER, "def test_a(api):\n    run = api.get('/runs')['data'][0]", 2, FIRST),
        (BROWSER, "def test_a(api):\n    runs = api.get('/runs')['data']\n    run = runs[0]", 3, FIRST),
        ("tests/support/pages.py", "def paths(page):\n    page.get_by_test_id('runs-table').first.click()", 2, FIRST),
        (BROWSER, "def test_a(page):\n    page.get_by_role('row').nth(0).click()", 2, FIRST),
        (TEST, "import os\nos.environ['A'] = 'b'", 2, CHANGE),
        (TEST, "import os\nos.environ.setdefault('A', 'b')", 2, CHANGE),
        (TEST, "from os import environ\ndef test_a():\n    environ.pop('A')", 3, CHANGE),
        (TEST, "import sys\ndef test_a():\n    sys.modules['flask'] = None", 3, CHANGE),
        (TEST, "import sys\ndef test_a():\n    del sys.modules['flask']", 3, CHANGE),
        (TEST, "import subprocess\ndef test_a():\n    subprocess.run(['a'], timeout=240)", 3, PROGRAM),
        (TEST, "def test_a(process):\n    process.communicate(timeout=9)", 2, PROGRAM),
        (TEST, "import pytest\n@pytest.mark.flaky(reruns=2)\ndef test_a(): ...", 2, RERUN),
    ],
)
def test_a_fault_is_told_with_its_place(file: str, text: str, line: int, rule: Rule) -> None:
    assert waiting.faults(file, text) == [f"{file}:{line}: {rule.sentence}"]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (TEST, "import time\ndef now(): return time.time()\nlater = lambda: time.time() + 1"),
        (TEST, "import asyncio\nasync def test_a():\n    await asyncio.sleep(0)"),
        (TEST, "import time\ndef poll():\n    while not there(): time.sleep(0.1)"),
        (TEST, "import time\ndef test_a():\n    def slow_server(): time.sleep(9)\n    serve(slow_server)"),
        (TEST, "def test_a(jail):\n    jail.run('import time; time.sleep(30)')"),
        (TEST, "import time\ndef test_a():\n    time.sleep(0.1)  # waits: the file system keeps whole seconds"),
        (
            TEST,
            "import time, pytest\n@pytest.mark.timed\n"
            "def test_a():\n    t = time.time()\n    assert time.time() - t < 2",
        ),
        (
            TEST,
            "import time, pytest\npytestmark = [pytest.mark.timed]\n"
            "def test_a():\n    t = time.time()\n    assert time.time() - t < 2",
        ),
        ("tests/bench/it.py", "import time\ndef main():\n    t = time.time()\n    assert time.time() - t < 2"),
        (TEST, "import time\ndef test_a():\n    assert made_at() <= time.time()"),
        (BROWSER, "def test_a(api, run):\n    group = api.get(f'/runs/{run}/groups')['data'][0]"),
        (BROWSER, "def test_a(api):\n    spec = api.get('/spec/recipes')['data'][0]['spec']"),
        (BROWSER, "def test_a(dialog):\n    dialog.get_by_label('Name').first.fill('x')"),
        (BROWSER, "def test_a(mine):\n    mine.get_by_role('row').first.click()  # first: the table is the test's own"),
        (TEST, "def test_a(api):\n    run = api.get('/runs')['data'][0]"),
        (TEST, "import sys\ndef test_a(monkeypatch):\n    monkeypatch.setitem(sys.modules, 'flask', None)"),
        ("tests/conftest.py", "import os\nos.environ['A'] = 'b'"),
        (TEST, "import subprocess\ndef test_a():\n    subprocess.run(['a'])"),
    ],
)
def test_what_waits_on_conditions_passes(file: str, text: str) -> None:
    assert waiting.faults(file, text) == []
