"""Reads of telemetry."""

from typing import Any, NotRequired

from django.db.models import FloatField, QuerySet, Value
from django.db.models.functions import Coalesce
from typing_extensions import TypedDict

from dressage.runs.models import Run
from dressage.telemetry import downsample
from dressage.telemetry.lines import Line
from dressage.telemetry.models import Event, Rollout, Series
from trainer_core.metrics import find

BOTTOM = -1.7e308
"""Sorts rollouts without a reward below all others."""


class MetricsDocument(TypedDict):
    """Charts of several metrics."""

    x: downsample.XAxis
    series: dict[str, downsample.SeriesDocument]
    superseded: NotRequired[dict[str, downsample.SeriesDocument]]
    """Steps that a later attempt has done again."""


class MetricNameDocument(TypedDict):
    """A metric that a run has reported, as the registry describes it."""

    name: str
    title: str
    unit: str
    formula: str
    group: str


def chart(
    run: Run,
    keys: list[str],
    *,
    x: downsample.XAxis,
    low: float | None,
    high: float | None,
    max_points: int,
    superseded: bool,
) -> MetricsDocument:
    """Series of several metrics; with ``superseded`` also what later attempts have replaced, as ghosts."""
    ids = {series.id: series.name for series in Series.objects.filter(run=run, name__in=keys)}
    line = Line.of(run)
    options: dict[str, Any] = {"x": x, "low": low, "high": high, "max_points": max_points}
    started = run.started_at or run.created_at
    found = downsample.query(run.id, started, ids, line, **options) if ids else {}
    empty = downsample.SeriesDocument()
    document: MetricsDocument = {"x": x, "series": {key: _as_json(found.get(key, empty)) for key in keys}}
    if superseded:
        ghosts = downsample.query(run.id, started, ids, line, **options, superseded=True) if ids else {}
        document["superseded"] = {key: _as_json(ghost) for key, ghost in ghosts.items() if ghost.raw_count}
    return document


def _as_json(series: downsample.SeriesDocument) -> Any:
    """The series as JSON-able data.

    Not by ``dataclasses.asdict``: it would copy every number of every list, which took longer than writing the JSON.
    """
    return vars(series)


def metric_names(run: Run) -> list[MetricNameDocument]:
    """Every metric that the run has reported, with what the registry says about it."""
    names = Series.objects.filter(run=run).order_by("name").values_list("name", flat=True)
    return [_describe(name) for name in names]


def _describe(name: str) -> MetricNameDocument:
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
