"""Replies from an engine's worker processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from worker.engine.weights import Shape


@dataclass(frozen=True, slots=True)
class Contract:
    """One process's knowledge of the model's checkpoint."""

    required: Mapping[str, Shape]
    optional: Mapping[str, Shape]
    tied: bool
    read_sizes: Mapping[str, int]
    """Values in each tensor that can be read back in this process."""
    total: int
    """Values in the checkpoint."""
