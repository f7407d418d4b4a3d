"""An installation in the user's home folder is found, told of, and left as it is."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dressage.config import Config
from dressage.supervisor.former_home import find_former_installation
from tests.support.about import INSTALLATION
from tests.support.checkout import copy_checkout, usual_environment

DATA = {
    "postgres-ready": "",
    "postgres-password": "a secret",
    "postgres/PG_VERSION": "17",
    "postgres/base/1/1234": "rows",
    "redis/appendonlydir/appendonly.aof.1.base.rdb": "queue",
    "secret-key": "s" * 64,
    "ray-token": "t" * 64,
    "up.lock": "",
    "beat-schedule": "schedule",
    "datasets/ds_1/v1.jsonl": '{"prompt": "1 + 1"}',
    "runs/run_1/checkpoints/step-2/state.json": "{}",
    "policies/starter/config.json": "{}",
}
"""Files of a real installation, and where they lie."""


def fill(folder: Path, names: tuple[str, ...] = tuple(DATA)) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(DATA[name])
    return folder


def tree(folder: Path) -> dict[str, tuple[int, int, bytes | None]]:
    """Each path with its mode, time of change and content."""
    return {
        str(path.relative_to(folder)): (
            path.lstat().st_mode,
            path.lstat().st_mtime_ns,
            path.read_bytes() if path.is_file() else None,
        )
        for path in sorted(folder.rglob("*"))
    }


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield taken.getsockname()[1]


@pytest.mark.expensive(5, "starts processes of the platform", about=INSTALLATION)
def test_up_tells_of_it_begins_a_new_one_and_changes_nothing_there(tmp_path: Path, taken_port: int) -> None:
    checkout, former = copy_checkout(tmp_path / "checkout"), fill(tmp_path / "user's home")
    before = tree(former)
    said = up(checkout, former, taken_port)
    new = checkout / ".dressage"
    assert f"An earlier installation is in {former}:" in said
    assert f"NOT used: this start uses {new}." in said
    assert f"export DRESSAGE_HOME={former}\n" in said and f"export DRESSAGE_HOME={new}\n" in said
    assert said.count("earlier installation") == 1
    assert f"port {taken_port} on 127.0.0.1 is taken" in said  # the end of this start, and its address
    assert tree(former) == before
    assert (new / "up.lock").exists() and (new / "secret-key").read_text() != DATA["secret-key"]


@pytest.mark.expensive(5, "starts processes of the platform", about=INSTALLATION)
def test_up_says_nothing_once_a_folder_is_chosen(tmp_path: Path, taken_port: int) -> None:
    checkout, former = copy_checkout(tmp_path / "checkout"), fill(tmp_path / "home")
    assert "earlier" not in up(checkout, former, taken_port, DRESSAGE_HOME=str(former))
    assert (former / "secret-key").read_text() == DATA["secret-key"]
    assert not (checkout / ".dressage").exists()


@pytest.mark.parametrize(
    "names",
    [
        ("up.lock", "secret-key"),
        ("up.lock", "ray-token"),
        ("postgres-ready", "postgres-password", "postgres/PG_VERSION"),
    ],
    ids=["servers of one's own", "a database and a key of one's own", "migrated, never started"],
)
def test_a_smaller_installation_is_found_too(tmp_path: Path, names: tuple[str, ...]) -> None:
    fill(tmp_path, names)
    assert find_former_installation({"HOME": str(tmp_path)}, tmp_path / ".dressage") == tmp_path


@pytest.mark.parametrize("name", DATA)
def test_a_file_or_folder_that_only_has_such_a_name_is_none(tmp_path: Path, name: str) -> None:
    fill(tmp_path, (name,))
    assert find_former_installation({"HOME": str(tmp_path)}, Config.model_fields["home"].default) is None


def test_the_folder_in_use_is_no_former_one(tmp_path: Path) -> None:
    fill(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path)
    assert find_former_installation({"HOME": str(tmp_path)}, tmp_path) is None
    assert find_former_installation({"HOME": str(tmp_path / "link")}, tmp_path) is None
    assert find_former_installation({}, tmp_path) is None


def up(checkout: Path, home: Path, port: int, **more: str) -> str:
    """What a start says that finds its port taken, and so ends before it starts a process."""
    environment = usual_environment(home, DRESSAGE_PORT=str(port), **more)
    command = [sys.executable, "manage.py", "up", "--no-color"]
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    return done.stderr
