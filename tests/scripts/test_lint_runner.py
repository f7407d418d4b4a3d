"""The runner of static checks: all failures are told, and the exit status is right."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.lint.runner import ROOT, Step, run
from tests.support.installation import wait_until


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


GOOD = Step("good", python("print('fine')"))
BAD = Step("bad", python("print('first line'); print('second line'); raise SystemExit(3)"), remedy="Mend it.")
WORSE = Step("worse", python("import sys; sys.exit('a reason on stderr')"))


@pytest.mark.parametrize("jobs", [1, 3])
def test_all_failures_are_told(jobs: int, capfd: pytest.CaptureFixture[str]) -> None:
    assert run([BAD, GOOD, WORSE], jobs) == 1
    said = capfd.readouterr().out
    assert "✓ good" in said and "fine" not in said
    assert "    first line\n    second line\n    → Mend it.\n" in said
    assert "    a reason on stderr\n" in said
    last = said.splitlines()[-1]
    assert last.startswith("2 of 3 checks failed: ") and {"bad", "worse"} == set(last[:-1].split(": ")[1].split(", "))


def test_success_is_one_line_each(capfd: pytest.CaptureFixture[str]) -> None:
    assert run([GOOD, Step("telling", python("print('by the way')"), tells=True)], 1) == 0
    lines = [line.partition(" (")[0] for line in capfd.readouterr().out.splitlines()]
    assert lines == ["✓ good", "✓ telling", "    by the way", "All 2 checks passed."]


def test_checks_know_no_installation(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """They share a data folder that is gone when they end, and reach nobody's database."""
    for name in ("DRESSAGE_HOME", "DATABASE_URL", "REDIS_URL"):
        monkeypatch.setenv(name, str(tmp_path))
    shown = "import os; print(*(os.environ[n] for n in ('DRESSAGE_HOME', 'DATABASE_URL', 'REDIS_URL')))"
    here = "import os; open(os.environ['DRESSAGE_HOME'] + '/secret-key', 'x').close(); "
    assert run([Step("one", python(here + shown), tells=True), Step("two", python(shown), tells=True)], 1) == 0
    first, second = (line.split() for line in capfd.readouterr().out.splitlines() if line.startswith("    "))
    assert first == second
    home, database, redis = first
    assert not Path(home).exists() and Path(home).name.startswith("dressage-lint-")
    assert (database, redis) == ("postgresql://nobody@127.0.0.1:1/nothing", "redis://127.0.0.1:1/0")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.expensive(6, "runs checks in processes", about=("pyproject.toml", "scripts"))
def test_no_check_makes_anything_in_the_checkout(tmp_path: Path) -> None:
    """The settings that checks read make a data folder where none is named, and where no database is, one of those."""
    code = "import scripts.lint.runner as r, sys; sys.exit(r.run([r.Step('settings', tuple(sys.argv[1:]))], 1))"
    tree = tmp_path / "tree"
    for folder in ("platform", "trainer_core", "scripts"):
        shutil.copytree(ROOT / folder, tree / folder, ignore=shutil.ignore_patterns("__pycache__"))
    before = sorted(tree.rglob("*"))
    step = python("import django; django.setup()")
    environment = {
        **{name: value for name, value in os.environ.items() if name not in ("DRESSAGE_HOME", "DATABASE_URL")},
        "PYTHONPATH": f"{tree}:{tree / 'platform'}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "DJANGO_SETTINGS_MODULE": "dressage.settings",
    }
    done = subprocess.run(
        [sys.executable, "-c", code, *step], cwd=tree, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(tree.rglob("*")) == before


def test_a_signal_ends_the_checks_and_removes_their_folder(tmp_path: Path) -> None:
    hangs = "import os, time; open('home', 'w').write(os.environ['DRESSAGE_HOME']); open('begun', 'x'); time.sleep(600)"
    steps = f"[Step('hangs', {python(hangs)!r}, {str(tmp_path)!r}), Step('next', ('touch', 'next'), {str(tmp_path)!r})]"
    code = "import scripts.lint.__main__ as m; from scripts.lint.runner import Step; "
    lint = subprocess.Popen(
        [sys.executable, "-c", f"{code}m.STEPS = {steps}; m.sys.argv[1:] = ['--jobs', '1']; m.sys.exit(m.main())"],
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_until((tmp_path / "begun").exists, seconds=20, every=0.02)
        home = Path((tmp_path / "home").read_text())
        assert home.is_dir()
        os.killpg(lint.pid, signal.SIGTERM)
        assert lint.wait(timeout=20) == 143
    finally:
        lint.kill()
    assert not home.exists() and not (tmp_path / "next").exists()


def test_a_missing_tool_fails(capfd: pytest.CaptureFixture[str]) -> None:
    assert run([Step("absent", ("no-such-tool-anywhere",))], 1) == 1
    assert "no-such-tool-anywhere cannot be started" in capfd.readouterr().out
