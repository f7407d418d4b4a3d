"""A control that has taken effect."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class AppliedControl:
    """A control that has taken effect."""

    control_id: str
    revision: int
    target: str
