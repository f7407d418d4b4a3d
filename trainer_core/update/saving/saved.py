"""Facts that identify a saved checkpoint, separate from ``checkpoint`` so that a driver does not need transformers."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SavedCheckpoint:
    """A checkpoint that is on the disk."""

    path: str
    bytes: int
    manifest_sha256: str
    version: int
