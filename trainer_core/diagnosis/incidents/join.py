"""Incidents of a run: signs are sorted into families, signs of the same time are joined, and each family describes its
own."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from trainer_core.diagnosis.incidents import (
    answers,
    collapse,
    entropy,
    failure,
    gradient,
    held_out,
    judge_bias,
    lengths,
    mismatch,
    no_signal,
    not_finite,
    other,
    reward_errors,
    saving,
    speed,
    template,
    weights,
    worker,
)
from trainer_core.diagnosis.incidents.facts import BEFORE, Episode, KnobTurn, Sign, Symptoms
from trainer_core.diagnosis.incidents.family import Family
from trainer_core.diagnosis.incidents.incident import Confidence, Kind, MetricEvidence, Remedy, Severity, Told

FAMILIES: tuple[Family, ...] = (
    failure.FAMILY,
    worker.STUCK,
    worker.DIED,
    weights.FAMILY,
    not_finite.FAMILY,
    collapse.FAMILY,
    held_out.FAMILY,
    mismatch.FAMILY,
    template.FAMILY,
    reward_errors.FAMILY,
    judge_bias.FAMILY,
    no_signal.FAMILY,
    entropy.FAMILY,
    lengths.FAMILY,
    answers.FAMILY,
    gradient.FAMILY,
    saving.FAMILY,
    speed.FAMILY,
    other.FAMILY,
)
"""The first family that accepts a sign gets it. Among incidents of equal severity, earlier families are shown first."""
_ABSORBED: dict[Kind, Kind] = {"template": "mismatch"}
"""Kinds that merge with another incident of the same time: the other's family describes both."""
_APART = 5
"""Calm steps after which a new sign is a new incident."""
_OVER = 3
"""Number of newest values that must all be calm before an alert without an end event counts as over."""
_EVIDENCE = 6
_CHANGES = 5


@dataclass(frozen=True, slots=True)
class Incident:
    """One thing that is or was wrong."""

    kind: Kind
    severity: Severity
    since: int
    until: int | None
    """Last step; None while it lasts."""
    title: str
    cause: str
    confidence: Confidence
    evidence: tuple[MetricEvidence, ...]
    signs: tuple[Sign, ...]
    changes: tuple[KnobTurn, ...]
    """Fields that were changed in the preceding steps."""
    advice: tuple[Remedy, ...]


def is_watched(metric: str) -> bool:
    """Whether some family reads this metric."""
    return metric in _NAMES or metric.startswith(_PREFIXES)


def is_lasting(metric: str) -> bool:
    """Whether it shows how long an alert applied that is reported once."""
    return metric in _LASTING


def incidents(facts: Symptoms) -> list[Incident]:
    """All incidents: first the ongoing ones, most severe first, then those that are over, newest first."""
    signs: dict[Kind, list[Sign]] = {}
    for family in FAMILIES:
        signs.setdefault(family.kind, []).extend(family.finds(facts))
    for sign in facts.signs:
        taker = next((one for one in FAMILIES if one.takes(sign)), None)
        if taker is not None:
            signs[taker.kind].append(_ended(facts, taker, sign))
    for kind, into in _ABSORBED.items():
        mine, theirs = signs[kind], signs[into]
        held = [sign for sign in mine if any(_overlap(sign, one) for one in theirs)]
        signs[kind] = [sign for sign in mine if sign not in held]
        theirs.extend(held)
    found = [_incident(facts, family, one) for family in FAMILIES for one in _episodes(signs[family.kind])]
    return sorted(
        found, key=lambda one: (one.until is not None, one.until is None and one.severity != "error", -one.since)
    )


def _episodes(signs: Iterable[Sign]) -> list[Episode]:
    """Groups the signs of one family that overlap or almost overlap."""
    groups: list[list[Sign]] = []
    for sign in sorted(signs, key=lambda one: one.since):
        if groups and sign.since <= max(_end(one) for one in groups[-1]) + _APART:
            groups[-1].append(sign)
        else:
            groups.append([sign])
    return [Episode(tuple(group)) for group in groups]


def _overlap(one: Sign, other: Sign) -> bool:
    return one.since <= _end(other) + _APART and other.since <= _end(one) + _APART


def _end(sign: Sign) -> float:
    return math.inf if sign.until is None else sign.until


def _ended(facts: Symptoms, family: Family, sign: Sign) -> Sign:
    """The sign with its end, if an alert is reported once and the family's metrics show until when it applied."""
    if sign.source != "alert" or sign.until is not None:
        return sign
    bounded = sign.metric is not None and (sign.low, sign.high) != (None, None)
    names = [sign.metric or ""] if bounded else list(family.lasts)
    low, high = (sign.low, sign.high) if bounded else (None, 0.0)
    points = [(step, value) for name in names for step, value in facts.series.get(name, ()) if step >= sign.since]
    last = max((step for step, value in points if not _inside(value, low, high)), default=sign.since)
    calm = {step for step, _ in points if step > last}
    return replace(sign, until=last) if len(calm) >= _OVER else sign


def _inside(value: float, low: float | None, high: float | None) -> bool:
    """Whether a value is within the bounds; NaN is not."""
    return not math.isnan(value) and (low is None or value >= low) and (high is None or value <= high)


def _incident(facts: Symptoms, family: Family, episode: Episode) -> Incident:
    told: Told = family.tell(facts, episode)
    since, until = episode.since, episode.until
    by_guards = sorted(episode.signs, key=lambda sign: sign.source != "guard")
    own = [sign.metric for sign in by_guards if sign.metric is not None]
    names = list(dict.fromkeys([*own, *told.metrics]))
    evidence = [_evidence(facts, episode, name) for name in names if facts.values(name, since, _last(facts, until))]
    changes = [change for change in facts.changes if since - BEFORE <= change.step <= since]
    return Incident(
        family.kind,
        episode.severity,
        since,
        until,
        told.title,
        told.cause,
        told.confidence,
        tuple(evidence[:_EVIDENCE]),
        episode.signs,
        tuple(changes[-_CHANGES:]),
        told.advice,
    )


def _evidence(facts: Symptoms, episode: Episode, name: str) -> MetricEvidence:
    value = facts.lately(name, episode.since, episode.until)
    bound = next(
        (sign for sign in episode.signs if sign.metric == name and (sign.low, sign.high) != (None, None)), None
    )
    low, high = (None, None) if bound is None else (bound.low, bound.high)
    finite = value if value is not None and math.isfinite(value) else None
    return MetricEvidence(name, finite, facts.usual(name, episode.since), low, high)


def _last(facts: Symptoms, until: int | None) -> int:
    return facts.step if until is None else until


def _watched() -> Sequence[str]:
    return sorted({name for family in FAMILIES for name in (*family.watched, *family.lasts)})


_LASTING = frozenset(name for family in FAMILIES for name in family.lasts)
_NAMES = frozenset(name for name in _watched() if not name.endswith("/"))
_PREFIXES = tuple(name for name in _watched() if name.endswith("/"))
