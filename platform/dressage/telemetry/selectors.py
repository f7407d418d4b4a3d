"""Reads of telemetry."""

from typing import Any

from django.db.models import FloatField, QuerySet, Value
from django.db.models.functions import Coalesce

from dressage.runs.models import Run
from dressage.telemetry import downsample
from dressage.telemetry.lines import Line
from dressage.telemetry.models import Event, Rollout, Series
from trainer_core.metrics import find

BOTTOM = -1.7e308
"""Sorts rollouts without a reward below all others."""


def chart(
    run: Run,
    keys: list[str],
    *,
    x: downsample.XAxis,
    low: float | None,
    high: float | None,
    max_points: int,
    superseded: bool,
) -> dict[str, Any]:
    """Series of several metrics; with ``superseded`` also what later attempts have replaced, as ghosts."""
    ids = {series.id: series.name for series in Series.objects.filter(run=run, name__in=keys)}
    line = Line.of(run)
    options: dict[str, Any] = {"x": x, "low": low, "high": high, "max_points": max_points}
    started = run.started_at or run.created_at
    found = downsample.query(run.id, started, ids, line, **options) if ids else {}
    empty = downsample.Buckets()
    # Not dataclasses.asdict: it would copy every number of every list, which took longer than writing the JSON.
    document: dict[str, Any] = {"x": x, "series": {key: vars(found.get(key, empty)) for key in keys}}
    if superseded:
        ghosts = downsample.query(run.id, started, ids, line, **options, superseded=True) if ids else {}
        document["superseded"] = {key: vars(ghost) for key, ghost in ghosts.items() if ghost.raw_count}
    return document


def metric_names(run: Run) -> list[dict[str, Any]]:
    """Every metric that the run has reported, with what the registry says about it."""
    names = Series.objects.filter(run=run).order_by("name").values_list("name", flat=True)
    return [_describe(name) for name in names]


def _describe(name: str) -> dict[str, Any]:
    metric = find(name)
    return {
        "name": name,
        "title": metric.title if metric else name,
        "unit": metric.unit if metric else "",
        "formula": metric.formula if metric else "",
        "group": metric.group if metric else "other",
    }


def events(run: Run, kind: str = "") -> QuerySet[Event]:
    """The run's events, of all kinds or of those named, separated by commas."""
    found = Event.objects.filter(run=run)
    return found.filter(kind__in=kind.split(",")) if kind else found


def rollouts(run: Run, *, superseded: bool = False) -> QuerySet[Rollout]:
    """Sampled rollouts on the run's line; with a ``reward_key`` that also orders those without a reward."""
    found = Rollout.objects.filter(Line.of(run).condition(superseded), run=run)
    return found.annotate(reward_key=Coalesce("reward", Value(BOTTOM), output_field=FloatField()))
