"""Guards: alarms on metrics that stay outside their bounds."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from trainer_core.spec.guards import Guard


@dataclass(frozen=True, slots=True)
class Alert:
    """A guard that acts."""

    metric: str
    value: float
    message: str
    action: Literal["alert", "pause"]


class GuardWatch:
    """Counts, for each guard, the steps in a row outside its bounds."""

    def __init__(self, guards: Sequence[Guard]) -> None:
        self._guards = tuple(guards)
        self._outside = [0] * len(self._guards)

    def check(self, step: int, metrics: Mapping[str, float]) -> list[Alert]:
        """Alerts of this step. A guard acts once when its count is reached, and again only after a step inside.

        A metric that this step did not report leaves the count as it is; NaN is outside every bound.
        """
        alerts = []
        for index, guard in enumerate(self._guards):
            if guard.metric not in metrics:
                continue
            value = metrics[guard.metric]
            reason = _violation(guard, value)
            self._outside[index] = self._outside[index] + 1 if reason else 0
            if reason and self._outside[index] == guard.for_steps:
                message = f"{guard.metric} is {value:.4g}, {reason}, for {guard.for_steps} steps (step {step})"
                alerts.append(Alert(guard.metric, value, message, guard.action))
        return alerts

    def state(self) -> dict[str, Any]:
        """For the checkpoint."""
        return {"guards": self._identity(), "outside": list(self._outside)}

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from a checkpoint. A state of other guards than these is ignored: they start anew."""
        if state.get("guards") == self._identity():
            self._outside = list(state["outside"])

    def _identity(self) -> list[dict[str, Any]]:
        return [guard.model_dump(mode="json") for guard in self._guards]


def _violation(guard: Guard, value: float) -> str | None:
    if math.isnan(value):
        return "not a number"
    if guard.min is not None and value < guard.min:
        return f"below {guard.min:g}"
    if guard.max is not None and value > guard.max:
        return f"above {guard.max:g}"
    return None
