"""The data folder is its owner's alone: what is made, and what an earlier release has left open."""

import os
import stat
from pathlib import Path

import pytest

from dressage.embedded.private_files import secret_in, tighten, write_secret
from tests.support.other_user import reachable_by_nobody

ROOT_ALONE = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user and look")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A data folder as releases before have left it: everybody may read and list."""
    for folder in (*tmp_path.parents[:3], tmp_path):
        folder.chmod(0o755)
    made = tmp_path / "home"
    for name in ("redis", "runs/run_1/journal", "datasets/ds_1", "policies/small", "postgres"):
        (made / name).mkdir(parents=True)
        (made / name / "file").write_text("secret")
    for name in ("secret-key", "up.lock", "beat-schedule", "notes.txt"):
        (made / name).write_text("secret")
    for path in (made, *made.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o755)
    (made / "policies" / "linked").symlink_to(outside)
    return made


def everything(home: Path) -> list[Path]:
    return [home, *home.rglob("*")]


@ROOT_ALONE
def test_another_user_can_read_and_list_nothing(home: Path) -> None:
    assert len(reachable_by_nobody(everything(home))) >= 20, "the look itself works"
    tighten(home)
    assert reachable_by_nobody(path for path in everything(home) if not path.is_symlink()) == []


def test_what_was_open_is_told_once(home: Path) -> None:
    opened = [path.name for path in tighten(home)]
    assert opened[0] == "home" and {"redis", "runs", "secret-key", "datasets"} <= set(opened)
    assert "notes.txt" not in opened, "not ours, and the folder hides it"
    assert tighten(home) == []
    assert stat.S_IMODE((home.parent / "outside").stat().st_mode) == 0o755, "links are not followed"
    assert stat.S_IMODE((home / "runs" / "run_1" / "journal" / "file").stat().st_mode) == 0o600


@ROOT_ALONE
def test_a_folder_that_another_server_user_passes_lists_nothing(home: Path) -> None:
    tighten(home, passable=True)
    found = reachable_by_nobody(path for path in everything(home) if path.name not in ("notes.txt", "linked"))
    assert found == []
    assert stat.S_IMODE(home.stat().st_mode) == 0o711


def test_the_home_folder_of_a_user_is_left_as_it_is(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(home))
    tighten(home)
    assert stat.S_IMODE(home.stat().st_mode) == 0o755
    assert stat.S_IMODE((home / "notes.txt").stat().st_mode) == 0o644
    assert stat.S_IMODE((home / "redis").stat().st_mode) == 0o700


def test_a_secret_is_made_once_and_private_whatever_the_mask(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        first = secret_in(tmp_path / "new" / "key")
        assert len(first) >= 64 and secret_in(tmp_path / "new" / "key") == first
        write_secret(tmp_path / "new" / "key", "other")
    finally:
        os.umask(old)
    assert secret_in(tmp_path / "new" / "key") == "other"
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["key"]
    assert (tmp_path / "new" / "key").stat().st_mode & 0o077 == 0
    assert (tmp_path / "new").stat().st_mode & 0o077 == 0


def test_a_new_secret_survives_a_power_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its text is on the disk before it has the name, and the name before anybody relies on it."""
    synced, sync = [], os.fsync

    def seen(descriptor: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", seen)
    write_secret(tmp_path / "key", "new")
    assert (tmp_path / "key").read_text() == "new"
    assert synced[0].startswith(f"{tmp_path}/.key-") and synced[1:] == [str(tmp_path)]
