"""The command ``dressage`` against the real platform."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dressage.runs.models import Run
from dressage_sdk.cli import main
from dressage_sdk.client import TOKEN, URL
from dressage_sdk.version import VERSION

on_platform = pytest.mark.django_db(transaction=True)


@on_platform
def test_runs_as_a_table_and_as_json(
    environment: Callable[..., None], make_run: Callable[..., Run], capsys: pytest.CaptureFixture[str]
) -> None:
    environment()
    assert main(["runs"]) == 0
    assert capsys.readouterr() == ("", "No runs.\n")
    assert main(["runs", "--json"]) == 0
    assert capsys.readouterr() == ("[]\n", "")
    first, second = make_run("first"), make_run("bell\a and \x1b[31mred", start=True)
    Run.objects.filter(pk=second.pk).update(step=12, summary={"reward": 0.123456})
    assert main(["runs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["ID", "STATE", "HEALTH", "STEP", "REWARD", "CREATED", "(UTC)", "NAME"]
    assert lines[1].split()[:5] == [second.id, "queued", "ok", "12/40", "0.1235"]
    assert lines[1].endswith("  bell  and  [31mred")
    assert lines[2].split()[:5] == [first.id, "draft", "ok", "0/40", "-"]
    assert len({line.index(name) for line, name in zip(lines, ("NAME", "bell", "first"), strict=True)}) == 1
    assert main(["runs", "--limit", "1", "--json"]) == 0
    out, err = capsys.readouterr()
    assert [run["id"] for run in json.loads(out)] == [second.id]
    assert err == "There are more runs than 1: --limit lists more.\n"
    assert main(["runs", "--state", "draft,failed", "--limit", "1"]) == 0
    out, err = capsys.readouterr()
    assert (len(out.splitlines()), first.id in out, err) == (2, True, "")


@on_platform
def test_one_run(
    environment: Callable[..., None], make_run: Callable[..., Run], capsys: pytest.CaptureFixture[str]
) -> None:
    environment()
    run = make_run("first", start=True)
    assert main(["runs", "show", run.id]) == 0
    shown = dict(re.fullmatch(r"(\w+) {2,}(.+)", line).groups() for line in capsys.readouterr().out.splitlines())  # type: ignore[union-attr]
    assert list(shown) == ["ID", "Name", "State", "Reason", "Health", "Step", "Policy", "Cost", "Created"]
    assert [shown[name] for name in ("ID", "Name", "State", "Step", "Cost")] == [
        run.id, "first", "queued", "0 of 40", "0.00 GPU hours",
    ]  # fmt: skip
    for arguments in (["runs", "show", run.id, "--json"], ["runs", "--json", "show", run.id]):
        assert main(arguments) == 0
        assert json.loads(capsys.readouterr().out)["spec"] == run.spec


@on_platform
def test_refusals(environment: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    environment()
    assert main(["runs", "show", "run_unknown"]) == 1
    assert capsys.readouterr() == ("", "dressage: 404 Not found: There is no such run in this team.\n")
    assert main(["runs", "--state", "asleep"]) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("dressage: 422 Invalid request") and "/state" in err
    environment(token="drs_wrong")
    assert main(["runs"]) == 1
    assert capsys.readouterr().err.startswith("dressage: 401 Not signed in: ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "COMMAND"),
        (["sheep"], "sheep"),
        (["runs", "--limit", "0"], "'0' is not a number of runs"),
        (["runs", "--limit", "many"], "'many' is not a number of runs"),
        (["runs", "show"], "ID"),
    ],
)
def test_commands_that_are_none(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


def test_a_missing_token_is_no_fault_of_the_platform(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(URL, raising=False)
    monkeypatch.delenv(TOKEN, raising=False)
    assert main(["--url", "http://127.0.0.1:9", "runs"]) == 2
    assert capsys.readouterr().err == "dressage: No API token: Set DRESSAGE_TOKEN, or pass token=… to Client.\n"


def test_as_a_process(tmp_path: Path) -> None:
    """Of its own, in which the package is found by its path alone."""
    environment = {"PYTHONPATH": ":".join(entry for entry in sys.path if entry), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "dressage_sdk", "--version"], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"dressage-sdk {VERSION}\n"
