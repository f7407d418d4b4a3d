"""Copies of checkpoints that became no policy do not stay; everything else does."""

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dressage.common.ids import new_id
from dressage.policies.leftovers import SPARED_S, sweep
from dressage.policies.models import Policy
from dressage.policies.tasks import sweep_leftovers
from dressage.teams.models import Team


@pytest.fixture
def root(settings: Any, tmp_path: Path, team: Team) -> Path:
    """The team's own folder."""
    settings.TEAM_POLICY_ROOT = tmp_path / "team-policies"
    folder = settings.TEAM_POLICY_ROOT / team.id
    folder.mkdir(parents=True)
    return folder


def make(folder: Path) -> Path:
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


def row(team: Team, path: Path, **fields: str) -> Policy:
    return Policy.objects.create(
        team=team, slug=f"p{Policy.objects.count()}", name="P", path=str(path), architecture="A", parameters=1,
        vocab_size=1, max_position_embeddings=1, bytes=1, sha256="0", created_by="x", **fields,
    )  # fmt: skip


def test_what_has_no_row_goes_after_a_day(root: Path, team: Team, tmp_path: Path) -> None:
    killed, failed = make(root / f"{new_id('pol')}.part"), make(root / new_id("pol"))
    used, registered = make(root / new_id("pol")), make(root / new_id("pol"))
    row(team, used, id=used.name)
    row(team, registered)
    operators = [make(root / name) for name in ("pol_mine", "starter", f"{new_id('pol')}.old")]
    (root / new_id("pol")).symlink_to(make(tmp_path / "outside"))
    (root / new_id("pol")).write_text("a file")
    kept = sorted({*root.iterdir()} - {killed, failed})
    now = (killed / "model.safetensors").stat().st_mtime
    assert sweep(now) == [], "it may still be copied"
    assert sweep(now + SPARED_S - 60) == []
    assert sorted(sweep(now + SPARED_S + 60)) == sorted([killed, failed])
    assert sorted(root.iterdir()) == kept
    for folder in (used, registered, *operators, tmp_path / "outside"):
        assert (folder / "model.safetensors").read_bytes() == b"weights"


def test_what_cannot_be_removed_does_not_keep_the_rest(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = sorted(make(root / new_id("pol")) for _ in range(2))
    remove = shutil.rmtree

    def busy(folder: Path) -> None:
        if folder == first:
            raise OSError("busy")
        remove(folder)

    monkeypatch.setattr("dressage.policies.leftovers.shutil.rmtree", busy)
    now = second.stat().st_mtime + SPARED_S + 60
    assert sweep(now) == [second]
    assert first.is_dir()


def test_there_may_be_no_folder_yet(settings: Any, tmp_path: Path, db: None) -> None:
    settings.TEAM_POLICY_ROOT = tmp_path / "none"
    assert sweep(1e12) == []


def test_the_task_asks_the_clock(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = make(root / new_id("pol"))
    sweep_leftovers()
    assert left.is_dir()
    later = left.stat().st_mtime + SPARED_S + 60
    monkeypatch.setattr("dressage.policies.tasks.time", SimpleNamespace(time=lambda: later))
    sweep_leftovers()
    assert not left.exists()
