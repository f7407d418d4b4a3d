"""Integrity of a checkpoint: a manifest with the hash of every file, and tensors that are finite."""

import json
import os
from collections.abc import Mapping
from hashlib import file_digest, sha256
from pathlib import Path

import torch
from torch import Tensor

MANIFEST = "manifest.json"
FORMAT = 1


class CheckpointError(ValueError):
    """A checkpoint cannot be written or read; the message names the file or tensor."""


def write_manifest(folder: Path) -> str:
    """Hash every file under ``folder`` into its manifest; returns the SHA-256 of the manifest itself."""
    files = {
        path.relative_to(folder).as_posix(): {"sha256": _sha256(path), "bytes": path.stat().st_size}
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != MANIFEST
    }
    text = json.dumps({"format": FORMAT, "files": files}, indent=1)
    (folder / MANIFEST).write_text(text)
    return sha256(text.encode()).hexdigest()


def verify_manifest(folder: Path) -> str:
    """Check every file under ``folder`` against the manifest; returns the SHA-256 of the manifest itself.

    Raises:
        CheckpointError: the manifest is missing or unreadable, or a file is missing, changed or not listed.
    """
    path = folder / MANIFEST
    try:
        text = path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read ({error.strerror}); the checkpoint is incomplete") from error
    try:
        document = json.loads(text)
        listed = {str(name): str(entry["sha256"]) for name, entry in document["files"].items()}
        known = document["format"] == FORMAT
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CheckpointError(f"{path}: is not a checkpoint manifest") from error
    if not known:
        raise CheckpointError(f"{path}: format {document['format']!r} is not {FORMAT}")
    present = {
        file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file() and file.name != MANIFEST
    }
    for name in sorted(listed.keys() | present):
        if name not in present:
            raise CheckpointError(f"{folder / name}: is missing")
        if name not in listed:
            raise CheckpointError(f"{folder / name}: is not in the manifest")
        if _sha256(folder / name) != listed[name]:
            raise CheckpointError(f"{folder / name}: was changed after the checkpoint was written")
    return sha256(text).hexdigest()


def require_finite(tensors: Mapping[str, Tensor]) -> None:
    """Raise CheckpointError naming the first tensor that holds a NaN or an infinity."""
    for name, tensor in tensors.items():
        if not bool(torch.isfinite(tensor).all()):
            raise CheckpointError(f"{name}: holds values that are not finite")


def sync_tree(folder: Path) -> None:
    """Flush every file and directory under ``folder`` to the disk."""
    for path in [*folder.rglob("*"), folder]:
        sync(path)


def sync(path: Path) -> None:
    """Flush one file or directory to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()
