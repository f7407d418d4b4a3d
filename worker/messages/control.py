"""A control that has taken effect."""

from __future__ import annotations

from dataclasses import dataclass

from trainer_core.spec.base import Boundary


@dataclass(frozen=True)
class AppliedControl:
    """A control that has taken effect."""

    control_id: str
    revision: int
    target: str
    boundary: Boundary
    """Boundary of its field. It has taken effect at a later one where another of its set had to wait."""
    is_under_way: bool = False
    """Whether it is a ramp that has not reached its end: it has taken effect, and does not settle yet."""
    application: int = 0
    """Number of its change among all changes of the spec of this attempt, in the order in which they took effect."""
