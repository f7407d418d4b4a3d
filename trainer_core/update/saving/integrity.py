"""Integrity of a checkpoint: tensors that are finite, files that are on the disk, and its manifest."""

import os
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from trainer_core.update.saving.manifest import CheckpointError, verify_manifest, write_manifest

__all__ = ["CheckpointError", "require_finite", "sync", "sync_tree", "verify_manifest", "write_manifest"]


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
