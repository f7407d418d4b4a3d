"""Signs of a run: objections of its guards and alerts of its worker, with the steps between which each lasted."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dressage.runs.facts.findings import findings_of
from dressage.runs.models import Run
from dressage.telemetry.lines import Line
from dressage.telemetry.models import Event
from trainer_core.diagnosis.incidents import Sign
from trainer_core.diagnosis.incidents.incident import Severity
from trainer_core.link.base import read_spelled
from trainer_core.rewards.answers import no_generation_prompt
from trainer_core.spec import RunSpec
from trainer_core.spec.operation.guards import Guard, MetricBound, keys

_CODES = {no_generation_prompt("").title: "no_generation_prompt"}
"""Codes of alerts that are only recognizable by their titles."""
_OF_AN_ATTEMPT = ("process_died", "weights_differ")
"""Codes that remain although the steps before them no longer count."""


@dataclass(frozen=True, slots=True)
class AttemptSpan:
    """Steps of an attempt, and its cluster."""

    number: int
    resume_step: int
    last_step: int
    cluster: str


def signs_of(
    run: Run,
    spec: RunSpec,
    alerts: Iterable[Event],
    attempts: Mapping[int, AttemptSpan],
    line: Line,
    saved: int | None,
) -> list[Sign]:
    """All signs, in the order in which they started.

    Args:
        run: with its findings.
        spec: the current spec.
        alerts: events of the kind ``alert``, oldest first.
        attempts: by number.
        line: the points that count.
        saved: step of the newest checkpoint.
    """
    open_: dict[tuple[str, str], Sign] = {}
    over: list[Sign] = []
    seen: dict[str, int] = {}
    guards = dict(zip(keys(spec.guards), spec.guards, strict=True))
    for event in alerts:
        step = event.step
        if step is None:
            step = attempts[event.attempt].last_step if event.attempt in attempts else run.step
        sign, ends = _read(event.data, step, guards, spec)
        if sign is None or not (line.has(event.attempt, step) or sign.name in _OF_AN_ATTEMPT):
            continue
        key = (sign.source, sign.name)
        before = open_.pop(key, None)
        if ends:
            if before is not None:
                over.append(replace(before, until=max(before.since, step - 1)))
            continue
        seen[sign.name] = step
        open_[key] = sign if before is None else replace(sign, since=before.since, message=_message(before, sign))
        if sign.source == "alert" and (at := _given_up(event, run, attempts, line, saved, step)) is not None:
            over.append(replace(open_.pop(key), until=at))
    return sorted([*over, *_standing(run, open_, seen, guards)], key=lambda sign: sign.since)


def _read(data: Mapping[str, Any], step: int, guards: Mapping[str, Guard], spec: RunSpec) -> tuple[Sign | None, bool]:
    """The sign in an alert, and whether the alert ends it."""
    news = data.get("guard")
    value, metric = read_spelled(data.get("value")), data.get("metric")
    if news is not None:
        guard = guards.get(news["guard"])
        low, high = _bounds(guard)
        form = None if guard is None else guard.type
        sign = Sign(
            "guard", news["guard"], news.get("severity", "warn"), news["since"], None, data["message"],
            metric, value, low, high, form,
        )  # fmt: skip
        return sign, news["state"] == "calm"
    code = data.get("code") or _CODES.get(data.get("title", ""))
    if code is None:
        return None, False
    low, high = (None, None)
    if code == "length_bias" and spec.examples is None and spec.reward.length_bias is not None:
        high = spec.reward.length_bias.threshold
        low = -high
    severity: Severity = "error" if data.get("level") == "error" else "warn"
    return Sign("alert", code, severity, step, None, data["message"], metric, value, low, high), data["level"] == "info"


def _bounds(guard: Guard | None) -> tuple[float | None, float | None]:
    return (guard.min, guard.max) if isinstance(guard, MetricBound) else (None, None)


def _message(before: Sign, now: Sign) -> str:
    """The newest message for guards; for alerts with the same code the first one, which says most."""
    return now.message if now.source == "guard" else before.message


def _given_up(
    event: Event, run: Run, attempts: Mapping[int, AttemptSpan], line: Line, saved: int | None, step: int
) -> int | None:
    """Step of the end of an alert that no event ends: the end of its attempt, because the next attempt's worker reports
    it again if it lasts, or the checkpoint that was written after all. None while it lasts."""
    if event.attempt < run.attempt:
        last = attempts[event.attempt].last_step if event.attempt in attempts else step
        return max(step, min(last, line.ends.get(event.attempt, last)))
    if event.data.get("code") == "not_saved" and saved is not None and saved >= step:
        return max(step, saved)
    return None


def _standing(
    run: Run, open_: Mapping[tuple[str, str], Sign], seen: Mapping[str, int], guards: Mapping[str, Guard]
) -> list[Sign]:
    """Signs without an end. A guard's sign lasts if the run's findings name it; findings also cover old events.

    Args:
        run: with its findings.
        open_: signs that no event has ended, by source and name.
        seen: step of the last event of each name.
        guards: by key.
    """
    findings = {one["guard"]: one for one in findings_of(run)}
    found = []
    for (source, name), sign in open_.items():
        if source == "guard" and name not in findings:
            found.append(replace(sign, until=max(sign.since, seen[name])))
        else:
            found.append(sign)
    for name, one in findings.items():
        if ("guard", name) not in open_:
            guard = guards.get(name)
            low, high = _bounds(guard)
            form = None if guard is None else guard.type
            found.append(
                Sign("guard", name, one["severity"], one["since"], None, one["message"], one["metric"], None, low, high,
                     form)
            )  # fmt: skip
    return found
