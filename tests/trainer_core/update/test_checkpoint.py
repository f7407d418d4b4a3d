"""Checkpoints: exact resume, a usable policy folder, and refusal of anything incomplete or changed."""

import json
import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from tests.support.about import LEARNING
from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.update.learner import Learner
from trainer_core.update.saving.integrity import CheckpointError, verify_manifest, write_manifest

EXTRA = {"step": 3, "curriculum": {"drawn": [1, 2], "rng": None}}


@pytest.fixture(scope="module")
def saved(policy_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A checkpoint after three steps."""
    folder = tmp_path_factory.mktemp("run") / "step-3"
    learner = trained(policy_dir)
    result = learner.save(folder, EXTRA)
    assert result is not None and result.version == 3 and result.path == str(folder)
    assert result.manifest_sha256 == sha256((folder / "manifest.json").read_bytes()).hexdigest()
    assert result.bytes == sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    yield folder


@pytest.fixture
def copy(saved: Path, tmp_path: Path) -> Path:
    """A copy of the checkpoint, to break."""
    return Path(shutil.copytree(saved, tmp_path / "copy"))


def trained(policy_dir: Path, *, stage: int = 0, steps: int = 3) -> Learner:
    spec = make_spec(parallelism={"zero_stage": stage})
    learner = Learner(policy_dir, spec)
    for step in range(1, steps + 1):
        learner.update(make_groups(step), spec, step)
    return learner


def same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


@pytest.mark.expensive(8, "three learners", about=LEARNING)
@pytest.mark.parametrize("stage", [0, 2, 3])
def test_a_resumed_learner_goes_on_bitwise(policy_dir: Path, tmp_path: Path, stage: int) -> None:
    spec = make_spec(parallelism={"zero_stage": stage})
    straight = trained(policy_dir, stage=stage)
    straight.save(tmp_path / "c", EXTRA)
    resumed = Learner(policy_dir, spec)
    assert resumed.version == 0
    assert resumed.load(tmp_path / "c") == EXTRA
    assert resumed.version == 3
    for step in (4, 5):
        expected = straight.update(make_groups(step), spec, step)
        assert resumed.update(make_groups(step), spec, step) == expected
    assert same(straight.weights(), resumed.weights())


@pytest.mark.expensive(2, "two learners")
def test_a_checkpoint_does_not_depend_on_the_stage(policy_dir: Path, saved: Path) -> None:
    plain = Learner(policy_dir, make_spec())
    plain.load(saved)
    spec = make_spec(parallelism={"zero_stage": 2})
    sharded = Learner(policy_dir, spec)
    sharded.load(saved)
    assert same(plain.weights(), sharded.weights())
    plain.update(make_groups(4), make_spec(), 4)
    sharded.update(make_groups(4), spec, 4)
    for name, weight in plain.weights().items():
        np.testing.assert_allclose(sharded.weights()[name], weight, atol=1e-5)


def test_the_folder_is_a_policy_in_itself(policy_dir: Path, saved: Path) -> None:
    learner = Learner(policy_dir, make_spec())
    learner.load(saved)
    loaded = dict(AutoModelForCausalLM.from_pretrained(saved, use_safetensors=True).named_parameters())
    for name, weight in learner.weights().items():
        assert np.array_equal(loaded[name].detach().numpy(), weight)
    assert (saved / "tokenizer_config.json").read_text() == "{}"
    assert (saved / "generation_config.json").is_file()
    fork = Learner(saved, make_spec())
    assert fork.version == 0
    assert same(fork.weights(), learner.weights())
    # Only the policy's own weights lie where loaders look for them, and nothing is pickled.
    assert [path.name for path in saved.glob("*.safetensors")] == ["model.safetensors"]
    assert {path.suffix for path in saved.rglob("*") if path.is_file()} <= {".json", ".safetensors"}


def test_tampering_is_refused_by_name_and_loads_nothing(policy_dir: Path, copy: Path) -> None:
    weights = load_file(copy / "model.safetensors")
    weights["model.norm.weight"] += 1e-3
    save_file(weights, copy / "model.safetensors")
    learner = trained(policy_dir, steps=1)
    before = learner.weights()
    with pytest.raises(CheckpointError, match=r"model\.safetensors: was changed"):
        learner.load(copy)
    assert same(before, learner.weights())
    assert learner.version == 1


def refuse(copy: Path, message: str) -> None:
    with pytest.raises(CheckpointError, match=message):
        verify_manifest(copy)


def test_incomplete_folders_are_refused(copy: Path, tmp_path: Path) -> None:
    (copy / "training" / "optimizer.safetensors").rename(tmp_path / "gone")
    refuse(copy, r"training/optimizer\.safetensors: is missing")
    (tmp_path / "gone").rename(copy / "training" / "optimizer.safetensors")
    (copy / "pytorch_model.bin").write_bytes(b"\x80")
    refuse(copy, r"pytorch_model\.bin: is not in the manifest")
    (copy / "pytorch_model.bin").unlink()
    verify_manifest(copy)
    (copy / "manifest.json").write_text("[]")
    refuse(copy, "is not a checkpoint manifest")
    (copy / "manifest.json").unlink()
    refuse(copy, "the checkpoint is incomplete")
    refuse(tmp_path / "nowhere", "the checkpoint is incomplete")


def test_another_policys_checkpoint_is_refused(policy_dir: Path, copy: Path) -> None:
    weights = load_file(copy / "model.safetensors")
    weights["model.norm.weight"] = torch.zeros(7)
    save_file(weights, copy / "model.safetensors")
    write_manifest(copy)
    learner = Learner(policy_dir, make_spec())
    with pytest.raises(CheckpointError, match=r"model\.norm\.weight is \(7,\), the policy has \(128,\)"):
        learner.load(copy)


def test_weights_that_are_not_finite_are_never_loaded(policy_dir: Path, copy: Path) -> None:
    weights = load_file(copy / "model.safetensors")
    weights["model.norm.weight"][3] = torch.nan
    save_file(weights, copy / "model.safetensors")
    write_manifest(copy)
    learner = Learner(policy_dir, make_spec())
    before = learner.weights()
    with pytest.raises(CheckpointError, match=r"model\.norm\.weight: holds values that are not finite"):
        learner.load(copy)
    assert same(before, learner.weights())


def test_a_failed_save_leaves_the_older_checkpoint(
    policy_dir: Path, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = trained(policy_dir, steps=1)
    monkeypatch.setattr("trainer_core.update.saving.checkpoint.sync_tree", full_disk)
    with pytest.raises(OSError, match="No space left"):
        learner.save(copy)
    verify_manifest(copy)
    assert json.loads((copy / "training" / "state.json").read_text())["version"] == 3
    assert [path.name for path in copy.parent.iterdir()] == ["copy"]
    monkeypatch.undo()
    (copy.parent / ".copy.partial").mkdir()  # what a killed process leaves behind
    learner.save(copy)
    assert json.loads((copy / "training" / "state.json").read_text())["version"] == 1
    assert [path.name for path in copy.parent.iterdir()] == ["copy"]


def full_disk(folder: Path) -> None:
    raise OSError(28, "No space left on device")


def test_state_that_is_no_json_is_refused_before_anything_is_written(policy_dir: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        Learner(policy_dir, make_spec()).save(tmp_path / "c", {"reward": float("nan")})
    assert list(tmp_path.iterdir()) == []
