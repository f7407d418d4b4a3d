"""The copy of a checkpoint: on the disk, names included, before a policy relies on it."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from dressage.policies.snapshots import copy_checkpoint


@pytest.fixture
def checkpoint(tmp_path: Path) -> tuple[Path, str]:
    """A folder with two files, and the hash of its manifest."""
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    files = {"config.json": b"{}", "model.safetensors": b"weights"}
    for name, content in files.items():
        (folder / name).write_bytes(content)
    listed = {name: {"sha256": hashlib.sha256(content).hexdigest()} for name, content in files.items()}
    manifest = json.dumps({"format": 1, "files": listed})
    (folder / "manifest.json").write_text(manifest)
    return folder, hashlib.sha256(manifest.encode()).hexdigest()


def test_a_copy_survives_a_power_cut(
    checkpoint: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced, sync = [], os.fsync

    def seen(descriptor: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", seen)
    target = tmp_path / "policies" / "copy"
    copy_checkpoint(checkpoint[0], target, checkpoint[1])
    assert {file.name: file.read_bytes() for file in target.iterdir()} == {
        "config.json": b"{}",
        "model.safetensors": b"weights",
    }
    assert synced == [str(path) for path in (*map(target.joinpath, sorted(os.listdir(target))), target, target.parent)]
