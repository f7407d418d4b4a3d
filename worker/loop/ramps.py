"""Active ramps: controls that move their field at every step until it has the new value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from trainer_core.link.commands import RampUnderWay
from trainer_core.spec.base import Boundary
from trainer_core.spec.ramps import ramp_value
from worker.messages.control import AppliedControl


@dataclass(frozen=True)
class RampInHand:
    """One active ramp."""

    control: AppliedControl
    boundary: Boundary
    """Boundary at which it moves."""
    first_step: int
    before: float
    value: float
    steps: int

    def at(self, step: int) -> float:
        """Value of its field in ``step``."""
        return ramp_value(self.before, self.value, self.steps, step - self.first_step + 1)

    def is_over(self, step: int) -> bool:
        """Whether the field has its new value in ``step``."""
        return step - self.first_step + 1 >= self.steps


class Ramps:
    """Ramps of an attempt, at most one per field. Used only by the loop's thread."""

    def __init__(self, known: Sequence[RampUnderWay], boundaries: Mapping[str, Boundary]) -> None:
        """``known`` ramps began before this attempt; ``boundaries`` gives the boundary of each field."""
        self._by_target: dict[str, RampInHand] = {}
        self._ended_early: list[AppliedControl] = []
        for one in known:
            field = boundaries.get(one.target, one.boundary)
            control = AppliedControl(one.control_id, one.revision, one.target, field, is_under_way=True)
            self.begin(RampInHand(control, one.boundary, one.first_step, one.before, one.value, one.steps))

    def __bool__(self) -> bool:
        return bool(self._by_target)

    def begin(self, ramp: RampInHand) -> None:
        """Start a ramp. An earlier one of the same field must have ended."""
        self._by_target[ramp.control.target] = ramp

    def end(self, targets: Iterable[str]) -> None:
        """End the ramps of fields that a later control has set. Each stops at its current value."""
        ended = [self._by_target.pop(target) for target in targets if target in self._by_target]
        self._ended_early += [ramp.control for ramp in ended]

    def drop(self, ramps: Iterable[RampInHand]) -> None:
        """Remove ramps that have reached their end."""
        for ramp in ramps:
            del self._by_target[ramp.control.target]

    def at(self, boundary: Boundary) -> list[RampInHand]:
        """The ramps that move at ``boundary``."""
        return [ramp for ramp in self._by_target.values() if ramp.boundary == boundary]

    def ended_early(self) -> list[AppliedControl]:
        """Controls whose ramps were ended by later controls since the last call."""
        ended, self._ended_early = self._ended_early, []
        return ended
