"""Facts by which a saved checkpoint is known; apart from ``checkpoint``, so that a driver needs no transformers for
it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SavedCheckpoint:
    """A checkpoint that is on the disk."""

    path: str
    bytes: int
    manifest_sha256: str
    version: int
