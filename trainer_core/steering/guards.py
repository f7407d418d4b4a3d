"""Guards: alarms on metrics that leave their bounds, change too fast, stall, or diverge from the held-out ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from trainer_core.spec.operation.guards import REPEATED, Guard, GuardBase, HeldOutFalls, MetricStuck, keys
from trainer_core.steering.guard_checks import memory, objection, patience, solved
from trainer_core.steering.held_out import compare

_GUARD: TypeAdapter[Guard] = TypeAdapter(Guard)
_UNCOUNTED = frozenset(GuardBase.model_fields) - {"metric", "unless_solved"}
"""Fields that may change without resetting the guard's count."""


@dataclass(frozen=True, slots=True)
class Alert:
    """A guard that has acted."""

    metric: str
    value: float
    message: str
    action: Literal["alert", "pause", "change", "roll_back"]
    guard: str = ""
    """Key of the guard; empty if another kind of watch raised the alert."""
    severity: Literal["warn", "error"] = "warn"
    since: int = 0
    """Step of the first objection."""
    repeated: bool = False
    """Whether the guard has acted before and still objects."""


@dataclass(frozen=True, slots=True)
class Calm:
    """A guard that no longer objects, was muted, or was removed."""

    guard: str
    metric: str
    since: int
    """Step of its first objection."""
    message: str


@dataclass(slots=True)
class _Count:
    """Count of one guard."""

    past: list[float] = field(default_factory=list)
    """Values that later values are compared with."""
    outside: int = 0
    """Consecutive objections."""
    since: int = 0
    """Step of the first of them."""
    fired: bool = False
    """Whether it has acted on them."""
    acted: list[int] = field(default_factory=list)
    """Steps at which it has acted."""


class GuardWatch:
    """Counts the consecutive steps to which each guard objects."""

    def __init__(self, guards: Sequence[Guard]) -> None:
        self._guards = tuple(guards)
        self._keys = keys(self._guards)
        self._counts = [_Count() for _ in self._guards]
        self._gone: list[Calm] = []

    def update(self, guards: Sequence[Guard]) -> None:
        """Use these guards from now on. Guards that stay keep their counts."""
        if tuple(guards) == self._guards:
            return
        left = dict(zip(self._keys, zip(self._guards, self._counts, strict=True), strict=True))
        before, self._guards, self._keys = left.copy(), tuple(guards), keys(guards)
        self._counts = []
        for key, guard in zip(self._keys, self._guards, strict=True):
            known = left.get(key)
            same = known is not None and _watched(known[0]) == _watched(guard)
            self._counts.append(left.pop(key)[1] if same else _Count())
        for key, (guard, count) in before.items():
            if key in left and count.fired:
                why = "was changed and restarts" if key in self._keys else "was removed"
                self._gone.append(Calm(key, guard.metric, count.since, f"The guard {key} {why}."))

    def check(self, step: int, metrics: Mapping[str, float]) -> list[Alert]:
        """Alerts of this step. A guard acts once when its count is reached, and again only after a step that it
        accepts.

        Guards that change a setting or roll back act again while they object, after their cooldown, up to their limit.
        If this step did not report a metric, the count stays as it is. Every guard objects to NaN, and later values are
        never compared with values that are not finite.
        """
        alerts = []
        for key, guard, count in zip(self._keys, self._guards, self._counts, strict=True):
            if count.fired and _is_muted(guard, step):
                self._gone.append(Calm(key, guard.metric, count.since, f"The guard {key} is muted."))
                count.fired = False
            seen = _look(guard, count, metrics)
            if seen is None:
                continue
            value, reason = seen
            if reason is None:
                if count.fired:
                    message = f"{guard.metric} is {value:.4g} at step {step}: {key} has ended."
                    self._gone.append(Calm(key, guard.metric, count.since, message))
                count.outside, count.fired = 0, False
                continue
            count.outside += 1
            if count.outside == 1:
                count.since = step - guard.for_steps + 1 if isinstance(guard, MetricStuck) else step
            repeated = count.fired
            if count.outside >= patience(guard) and not _is_muted(guard, step) and _acts(guard, count, step):
                count.fired = True
                count.acted.append(step)
                alerts.append(_alert(key, guard, count, value, reason, step, repeated=repeated))
        return alerts

    def calm(self) -> list[Calm]:
        """Guards that have stopped objecting since the last call."""
        found, self._gone = self._gone, []
        return found

    def state(self) -> dict[str, Any]:
        """State for the checkpoint."""
        return {
            "guards": [guard.model_dump(mode="json") for guard in self._guards],
            "outside": [count.outside for count in self._counts],
            # Unknown values are NaN, which JSON does not support.
            "past": [[None if math.isnan(value) else value for value in count.past] for count in self._counts],
            "since": [count.since for count in self._counts],
            "fired": [count.fired for count in self._counts],
            "acted": [list(count.acted) for count in self._counts],
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Restore from a checkpoint. Counts of guards that do not match are dropped: these guards start again."""
        try:
            saved = [_GUARD.validate_python(guard) for guard in state.get("guards", ())]
        except ValidationError:
            return
        former = dict(zip(keys(saved), range(len(saved)), strict=True))
        for index, (key, guard) in enumerate(zip(self._keys, self._guards, strict=True)):
            at = former.get(key)
            if at is not None and _watched(saved[at]) == _watched(guard):
                self._counts[index] = _saved_count(state, at, saved[at])


def _saved_count(state: Mapping[str, Any], at: int, guard: Guard) -> _Count:
    """Count of a guard in a checkpoint. Older checkpoints do not store since when it objects, nor whether it has
    acted."""
    outside = int(state["outside"][at])
    past = [math.nan if value is None else float(value) for value in state["past"][at]]
    if "since" not in state:
        return _Count(past, outside, fired=outside >= patience(guard))
    return _Count(past, outside, state["since"][at], state["fired"][at], list(state["acted"][at]))


def _look(guard: Guard, count: _Count, metrics: Mapping[str, float]) -> tuple[float, str | None] | None:
    """(value, reason of the objection or None); None if there is nothing to compare."""
    if isinstance(guard, HeldOutFalls):
        return compare(guard, count.past, metrics)
    if guard.metric not in metrics:
        return None
    value = metrics[guard.metric]
    reason = objection(guard, value, count.past)
    # Values it objects to are added only once it has acted: by then they may be the new normal. Added earlier, they
    # would raise the mean that the next values are compared with, and a guard with patience 2 would miss the second
    # step of a spike.
    waits = reason is not None and count.outside + 1 < patience(guard)
    if math.isfinite(value) and memory(guard) and not waits:
        count.past = [*count.past, value][-memory(guard) :]
    if reason is not None and guard.unless_solved and not math.isnan(value) and solved(metrics):
        return value, None
    return value, reason


def _acts(guard: Guard, count: _Count, step: int) -> bool:
    if not count.fired:
        return True
    if guard.action not in REPEATED or len(count.acted) >= guard.at_most:
        return False
    return step - count.acted[-1] >= guard.cooldown


def _alert(key: str, guard: Guard, count: _Count, value: float, reason: str, step: int, *, repeated: bool) -> Alert:
    held_out = isinstance(guard, HeldOutFalls)
    what, unit = ("the held-out reward", "evaluation") if held_out else (guard.metric, "step")
    lasted = f"{guard.for_steps} {unit}{'' if guard.for_steps == 1 else 's'}"
    message = f"{what} is {value:.4g}, {reason}, for {lasted} (step {step})"
    return Alert(guard.metric, value, message, guard.action, key, guard.severity, count.since, repeated)


def _is_muted(guard: Guard, step: int) -> bool:
    return guard.muted_until is not None and step < guard.muted_until


def _watched(guard: Guard) -> dict[str, Any]:
    """The fields that the count depends on."""
    return guard.model_dump(mode="json", exclude=set(_UNCOUNTED))
