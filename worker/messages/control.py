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
    """Boundary of its field. It took effect at a later one if another control of its set had to wait."""
    is_under_way: bool = False
    """Whether it is a ramp that has not reached its end: it has taken effect, but has not settled."""
    application: int = 0
    """Number of its change among all changes of the spec of this attempt, in the order they took effect."""
