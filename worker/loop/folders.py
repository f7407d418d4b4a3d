"""Folders that an attempt reads: checks before it starts, and which of them is gone.

Processes that are made later in the attempt (engines, reward workers) read only folders that stay: the policy's own,
and those of judges and reward models. Only the learner reads the checkpoint, once: newer ones replace it on the disk.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from trainer_core.link.bundle import Bundle
from trainer_core.spec import RunSpec
from trainer_core.support import refusal
from trainer_core.update.saving.manifest import MANIFEST, DamagedFile, verify_manifest
from worker.errors import CheckpointUnusable, StartError


def gone_folder(bundle: Bundle) -> Path | None:
    """A folder that processes of the attempt read when they start, and that does not exist any more."""
    return next((folder for folder in _read_by_new_processes(bundle) if not folder.is_dir()), None)


def check_policy_folder(folder: Path) -> None:
    """Refuse a folder that is not a policy."""
    if not folder.is_dir():
        raise StartError(f"The policy folder {folder} does not exist on this machine.")
    config = folder / "config.json"
    try:
        json.loads(config.read_text())
    except (OSError, ValueError) as error:
        raise StartError(f"The policy folder {folder} has no readable config.json.") from error
    if not any(folder.glob("*.safetensors")):
        raise StartError(f"The policy folder {folder} has no safetensors weights.")


def check_trainable(folder: Path, spec: RunSpec) -> None:
    """Refuse a policy that cannot be trained as ``spec`` requires, before anything starts."""
    if (sentence := refusal(json.loads((folder / "config.json").read_text()), spec)) is not None:
        raise StartError(f"The policy {spec.policy.base} cannot be trained: {sentence}")


def check_checkpoint(folder: Path, manifest_sha256: str) -> None:
    """Refuse a checkpoint that is not the one the platform has recorded, byte for byte.

    Raises:
        CheckpointUnusable: the folder is gone, or a file is missing, changed or not listed; names it.
        OSError: a file cannot be read. It may be whole.
    """
    if not folder.is_dir():
        raise CheckpointUnusable(folder, "the folder does not exist any more", gone=True)
    try:
        found = verify_manifest(folder)
    except DamagedFile as damaged:
        raise CheckpointUnusable(folder, damaged.fault, gone=not folder.is_dir()) from damaged
    if found != manifest_sha256:
        raise CheckpointUnusable(folder, f"{MANIFEST} differs from the recorded one", gone=False)


def _read_by_new_processes(bundle: Bundle) -> Iterator[Path]:
    yield from (one.path for one in (bundle.policy, bundle.teacher, bundle.reference) if one is not None)
    for version in bundle.versions.values():
        yield from version.reward_models.values()
        yield from (judge.model_dir for judge in version.judges.values() if judge.model_dir is not None)
