"""Facts of a run from which incidents are derived: objections, metrics, changes, and the state of its worker."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Literal

from trainer_core.diagnosis.incidents.incident import Severity

BEFORE = 20
"""Steps before an incident that define what is usual, and in which a change may have caused it."""
_LEAST = 3
"""Fewest values from which a usual level is computed."""
_LAST = 5
"""Number of newest values of an episode that determine its value."""


@dataclass(frozen=True, slots=True)
class Sign:
    """An objection: from a guard, an alert, a metric itself, or the run's state."""

    source: Literal["guard", "alert", "metric", "state"]
    name: str
    """Key of the guard, code of the alert, name of the metric, or of the state."""
    severity: Severity
    since: int
    """Step of the first objection."""
    until: int | None
    """Last step at which it held; None while it lasts."""
    message: str
    metric: str | None = None
    value: float | None = None
    """Value that triggered it."""
    low: float | None = None
    high: float | None = None
    """Bounds of the guard."""
    form: str | None = None
    """Type of the guard."""


@dataclass(frozen=True, slots=True)
class KnobTurn:
    """A field that was changed during the run."""

    target: str
    before: object
    value: object
    step: int
    """Step at which it took effect."""
    actor: str


@dataclass(frozen=True, slots=True)
class Failure:
    """End of a failed run."""

    reason: str
    step: int


@dataclass(frozen=True, slots=True)
class Phase:
    """Current phase of a run, and the state of its worker."""

    name: str
    silent_s: float
    """Seconds without progress."""
    done: int
    total: int
    usual_s: float | None
    """Seconds within which the phase ends in 95 % of steps."""
    heard_s: float | None
    """Seconds since the worker was last heard of."""


@dataclass(frozen=True, slots=True)
class Symptoms:
    """Facts of one run that indicate problems."""

    step: int
    """Steps learned so far."""
    signs: tuple[Sign, ...] = ()
    series: Mapping[str, Sequence[tuple[int, float]]] = field(default_factory=dict)
    """(step, value), ascending, by metric: around each sign, and in the newest steps."""
    changes: tuple[KnobTurn, ...] = ()
    failure: Failure | None = None
    phase: Phase | None = None
    """Set if the run has made no progress for much longer than usual."""

    def values(self, metric: str, first: int, last: int) -> list[float]:
        """Reported values of the steps from ``first`` to ``last``."""
        return [value for step, value in self.series.get(metric, ()) if first <= step <= last]

    def usual(self, metric: str, since: int) -> float | None:
        """Median of the finite values of the steps before ``since``; None if there are too few."""
        found = [value for value in self.values(metric, since - BEFORE, since - 1) if math.isfinite(value)]
        return median(found) if len(found) >= _LEAST else None

    def lately(self, metric: str, since: int, until: int | None) -> float | None:
        """Median of the newest values of an episode; a value that is not finite is returned as it is. None if none was
        reported."""
        found = self.values(metric, since, self.step if until is None else until)[-_LAST:]
        odd = [value for value in found if not math.isfinite(value)]
        return odd[-1] if odd else median(found) if found else None

    def starting(self, prefix: str) -> list[str]:
        """Names of reported metrics that begin with ``prefix``."""
        return sorted(name for name in self.series if name.startswith(prefix))


@dataclass(frozen=True, slots=True)
class Episode:
    """Signs of one family that apply at the same time."""

    signs: tuple[Sign, ...]
    """Signs, in order of their first objection."""

    @property
    def since(self) -> int:
        return min(sign.since for sign in self.signs)

    @property
    def until(self) -> int | None:
        """Last step of the last sign; None while one lasts."""
        ends = [sign.until for sign in self.signs if sign.until is not None]
        return max(ends) if len(ends) == len(self.signs) else None

    @property
    def severity(self) -> Severity:
        return "error" if any(sign.severity == "error" for sign in self.signs) else "warn"

    def message(self, *names: str) -> str | None:
        """Message of the first sign with one of these names."""
        return next((sign.message for sign in self.signs if sign.name in names), None)


def changed_before(facts: Symptoms, since: int, targets: Sequence[str]) -> KnobTurn | None:
    """The last change of one of these fields in the steps before ``since``. Targets that end in ``.`` are
    prefixes."""
    found = [
        change
        for change in facts.changes
        if since - BEFORE <= change.step <= since
        and any(
            change.target == target or (target[-1] == "." and change.target.startswith(target)) for target in targets
        )
    ]
    return max(found, key=lambda change: change.step, default=None)


def change_words(change: KnobTurn) -> str:
    """Sentence about an earlier change."""
    return (
        f"{change.actor} changed {change.target} from {change.before} to {change.value} at step {change.step}, shortly"
        " before: that is the likely cause, not proven."
    )
