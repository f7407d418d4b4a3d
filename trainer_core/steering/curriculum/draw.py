"""Draws of the curriculum: which prompt, and how many samples."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Draw:
    """One prompt."""

    source: str
    row_index: int
    prompt_id: str
    """``<source>:<row index>``: key of the running pass rate."""
    item: dict[str, Any]
    """The dataset row."""
    samples: int
    """Number of completions that the group should have."""
    hint: str = ""
    """Beginning of the reference solution that is shown; empty if none is shown."""
    ordinal: int = 0
    """Its number among all draws of the run, from 0."""
