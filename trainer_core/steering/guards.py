"""Guards: alarms on metrics that leave their bounds, change too fast, or stand still."""

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from trainer_core.spec.operation.guards import Guard
from trainer_core.steering.guard_checks import memory, objection, patience


@dataclass(frozen=True, slots=True)
class Alert:
    """A guard that acts."""

    metric: str
    value: float
    message: str
    action: Literal["alert", "pause"]


class GuardWatch:
    """Counts, for each guard, the steps in a row to which it objects."""

    def __init__(self, guards: Sequence[Guard]) -> None:
        self._guards = tuple(guards)
        self._objections = [0] * len(self._guards)
        self._past: list[deque[float]] = [deque(maxlen=memory(guard)) for guard in self._guards]

    def check(self, step: int, metrics: Mapping[str, float]) -> list[Alert]:
        """Alerts of this step. A guard acts once when its count is reached, and again only after a step it accepts.

        A metric that this step did not report leaves the count as it is. NaN is objected to by every guard, and what is
        not finite never becomes part of what later values are compared with.
        """
        alerts = []
        for index, guard in enumerate(self._guards):
            if guard.metric not in metrics:
                continue
            value, past = metrics[guard.metric], self._past[index]
            reason = objection(guard, value, past)
            if math.isfinite(value):
                past.append(value)
            self._objections[index] = self._objections[index] + 1 if reason else 0
            if reason and self._objections[index] == patience(guard):
                message = f"{guard.metric} is {value:.4g}, {reason}, for {guard.for_steps} steps (step {step})"
                alerts.append(Alert(guard.metric, value, message, guard.action))
        return alerts

    def state(self) -> dict[str, Any]:
        """State for the checkpoint."""
        return {
            "guards": self._identity(),
            "outside": list(self._objections),
            "past": [list(past) for past in self._past],
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from a checkpoint. A state of other guards than these is ignored: they start anew."""
        if state.get("guards") == self._identity():
            self._objections = list(state["outside"])
            self._past = [
                deque(past, maxlen=memory(guard)) for guard, past in zip(self._guards, state["past"], strict=True)
            ]

    def _identity(self) -> list[dict[str, Any]]:
        return [guard.model_dump(mode="json") for guard in self._guards]
