"""Folders that an attempt reads: those that are gone are a lost attempt, those that are damaged are named."""

import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.worker.loop.conftest import REWARD, tiny_spec
from trainer_core.link.bundle import Bundle
from trainer_core.link.events import AlertData
from trainer_core.update.saving.manifest import DamagedFile, verify_manifest, write_manifest
from worker.errors import CheckpointUnusable
from worker.loop.controller import _failed
from worker.loop.folders import check_checkpoint, gone_folder


@pytest.fixture
def bundle(tmp_path: Path) -> Bundle:
    """A bundle that names a folder of each kind, all of which exist."""
    for name in ("policy", "teacher", "scorer", "judge", "shadow", "run"):
        (tmp_path / name).mkdir()
    judge = {"model": "j", "model_dir": str(tmp_path / "judge")}
    shadow = {"definition": REWARD, "judges": {"s": {"model": "s", "model_dir": str(tmp_path / "shadow")}}}
    return Bundle.model_validate(
        {
            "run_id": "r",
            "attempt": 2,
            "spec": tiny_spec(),
            "revision": 0,
            "policy": {"name": "p", "path": str(tmp_path / "policy")},
            "teacher": {"name": "t", "path": str(tmp_path / "teacher")},
            "reward": {"ref": "calculation@1", "definition": REWARD},
            "judges": {"j": judge, "remote": {"model": "m", "base_url": "https://judge.example/v1"}},
            "reward_models": {"scorer": str(tmp_path / "scorer")},
            "shadow": {"other@1": shadow},
            "datasets": {},
            "resume": {"step": 2, "path": str(tmp_path / "checkpoint"), "manifest_sha256": "0" * 64},
            "run_dir": str(tmp_path / "run"),
        }
    )


def test_the_checkpoint_that_an_attempt_began_with_may_be_deleted(bundle: Bundle) -> None:
    assert bundle.resume is not None and not bundle.resume.path.exists()
    assert gone_folder(bundle) is None


@pytest.mark.parametrize("name", ["policy", "teacher", "scorer", "judge", "shadow"])
def test_whatever_folder_new_processes_read_is_missed(bundle: Bundle, tmp_path: Path, name: str) -> None:
    (tmp_path / name).rmdir()
    assert gone_folder(bundle) == tmp_path / name


class Heard:
    """A link that keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def emit(self, data: Any, step: int | None = None) -> int:
        self.told.append(data)
        return len(self.told)


@pytest.mark.parametrize(
    ("attempt", "trains", "lost"), [(1, False, False), (1, True, True), (2, False, True), (2, True, True)]
)
def test_a_folder_that_vanished_is_a_lost_attempt_and_named(
    bundle: Bundle, tmp_path: Path, attempt: int, trains: bool, lost: bool
) -> None:
    startup: Any = SimpleNamespace(bundle=bundle.model_copy(update={"attempt": attempt}))
    run: Any = object() if trains else None
    link: Any = Heard()
    assert _failed(link, startup, run, "The engine broke.", "trace") == ("failed", "The engine broke.", "trace")
    assert link.told == [], "nothing is gone: a failure stays one"
    (tmp_path / "policy").rmdir()
    state, reason, detail = _failed(link, startup, run, "The engine broke.", "trace")
    if not lost:
        assert (state, reason, detail, link.told) == ("failed", "The engine broke.", "trace", [])
        return
    assert (state, detail) == (None, None)
    [alert] = link.told
    assert isinstance(alert, AlertData) and alert.level == "error"
    assert str(tmp_path / "policy") in reason and str(tmp_path / "policy") in alert.message
    assert "The engine broke." in alert.message


def test_an_attempt_that_never_read_its_bundle_fails() -> None:
    assert _failed(Heard(), None, None, "No bundle.") == ("failed", "No bundle.", None)  # type: ignore[arg-type]


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    folder = tmp_path / "step-000004-a1"
    (folder / "training").mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(bytes(range(200)))
    (folder / "training" / "optimizer.safetensors").write_bytes(b"moments")
    write_manifest(folder)
    return folder


def truncate(folder: Path, name: str) -> str:
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[:-1])
    return f"{name} was changed after the checkpoint was written"


def flip(folder: Path, name: str) -> str:
    content = bytearray((folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / name).write_bytes(bytes(content))
    return f"{name} was changed after the checkpoint was written"


def lose(folder: Path, name: str) -> str:
    (folder / name).unlink()
    return f"{name} is missing"


def slip_in(folder: Path, name: str) -> str:
    (folder / f"{name}.bin").write_bytes(b"x")
    return f"{name}.bin is not in the manifest"


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "training/optimizer.safetensors"])
@pytest.mark.parametrize("damage", [truncate, flip, lose, slip_in])
def test_a_damaged_file_is_named(checkpoint: Path, name: str, damage: Callable[[Path, str], str]) -> None:
    digest = verify_manifest(checkpoint)
    check_checkpoint(checkpoint, digest)
    fault = damage(checkpoint, name)
    with pytest.raises(CheckpointUnusable) as found:
        check_checkpoint(checkpoint, digest)
    assert (found.value.folder, found.value.fault, found.value.gone) == (checkpoint, fault, False)
    assert str(checkpoint) in str(found.value)
    by_size = damage is not flip
    if by_size:
        with pytest.raises(DamagedFile):
            verify_manifest(checkpoint, digest=None)
    else:
        verify_manifest(checkpoint, digest=None)


def test_another_manifest_is_not_the_recorded_one(checkpoint: Path) -> None:
    with pytest.raises(CheckpointUnusable, match=r"manifest\.json differs from the recorded one") as found:
        check_checkpoint(checkpoint, "0" * 64)
    assert not found.value.gone
    (checkpoint / "manifest.json").unlink()
    with pytest.raises(CheckpointUnusable, match=r"manifest\.json cannot be read"):
        check_checkpoint(checkpoint, "0" * 64)


def test_a_folder_that_is_gone_is_told_as_that(checkpoint: Path) -> None:
    digest = verify_manifest(checkpoint)
    shutil.rmtree(checkpoint)
    with pytest.raises(CheckpointUnusable, match="does not exist any more") as found:
        check_checkpoint(checkpoint, digest)
    assert found.value.gone and str(checkpoint) in str(found.value)


def test_a_damaged_file_is_named_in_another_process_too(tmp_path: Path) -> None:
    damaged = pickle.loads(pickle.dumps(DamagedFile(tmp_path, "model.safetensors", "is missing")))
    assert (str(damaged), damaged.fault) == (
        f"{tmp_path}/model.safetensors: is missing",
        "model.safetensors is missing",
    )
