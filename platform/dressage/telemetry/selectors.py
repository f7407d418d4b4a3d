"""Queries of telemetry."""

from collections.abc import Collection
from datetime import datetime
from typing import Any, NotRequired

from django.db.models import FloatField, Max, QuerySet, Value
from django.db.models.functions import Coalesce
from typing_extensions import TypedDict

from dressage.telemetry import downsample
from dressage.telemetry.axes import Axes, XAxis
from dressage.telemetry.lines import Line
from dressage.telemetry.models import BOTTOM, Event, Moment, Point, Rollout, Series
from trainer_core.metrics import find


class MetricsDocument(TypedDict):
    """Charts of several metrics."""

    x: XAxis
    series: dict[str, downsample.MetricSeriesDocument]
    superseded: NotRequired[dict[str, downsample.MetricSeriesDocument]]
    """Steps that a later attempt has repeated."""


class MetricNameDocument(TypedDict):
    """A metric that a run has reported, as the registry describes it."""

    name: str
    title: str
    unit: str
    formula: str
    group: str


def chart(
    run_id: str,
    line: Line,
    axes: Axes,
    keys: list[str],
    *,
    x: XAxis,
    low: float | None,
    high: float | None,
    max_points: int,
    superseded: bool,
) -> MetricsDocument:
    """Series of several metrics; with ``superseded`` also the points that later attempts have replaced, as ghosts.

    Args:
        run_id: the run.
        line: which of its points count.
        axes: data from which its axes are computed.
        keys: names of metrics.
        x: the axis.
        low: smallest x, or None.
        high: largest x, or None.
        max_points: maximum number of buckets per series.
        superseded: whether to add the ghosts.
    """
    ids = {series.id: series.name for series in Series.objects.filter(run_id=run_id, name__in=keys)}
    options: dict[str, Any] = {"x": x, "low": low, "high": high, "max_points": max_points}
    found = downsample.query(run_id, axes, ids, line, **options) if ids else {}
    empty = downsample.MetricSeriesDocument()
    document: MetricsDocument = {"x": x, "series": {key: _as_json(found.get(key, empty)) for key in keys}}
    if superseded:
        ghosts = downsample.query(run_id, axes, ids, line, **options, superseded=True) if ids else {}
        document["superseded"] = {key: _as_json(ghost) for key, ghost in ghosts.items() if ghost.raw_count}
    return document


def last_step_by(run_id: str, line: Line, instant: datetime) -> int | None:
    """The last step on the line that was completed by then; None if there is none."""
    done = Moment.objects.filter(line.condition(), run_id=run_id, at__lte=instant)
    last: int | None = done.aggregate(last=Max("step"))["last"]
    return last


def _as_json(series: downsample.MetricSeriesDocument) -> Any:
    """The series as JSON-able data.

    ``dataclasses.asdict`` would copy every number of every list, which took longer than writing the JSON.
    """
    return vars(series)


def metric_names(run_id: str) -> list[MetricNameDocument]:
    """Every metric that the run has reported, with what the registry says about it."""
    names = Series.objects.filter(run_id=run_id).order_by("name").values_list("name", flat=True)
    return [describe(name) for name in names]


def describe(name: str) -> MetricNameDocument:
    """The registry's description of a reported metric, or only its name if the registry does not know it."""
    metric = find(name)
    return {
        "name": name,
        "title": metric.title if metric else name,
        "unit": metric.unit if metric else "",
        "formula": metric.formula if metric else "",
        "group": metric.group if metric else "other",
    }


def values_between(run_id: str, line: Line, first: int, last: int) -> dict[str, list[tuple[int, float]]]:
    """(step, value) of every metric of the run from step ``first`` to ``last``, ascending: the points that count."""
    names = dict(Series.objects.filter(run_id=run_id).values_list("id", "name"))
    points = Point.objects.filter(line.condition(), series_id__in=list(names), step__gte=first, step__lte=last)
    found: dict[str, list[tuple[int, float]]] = {}
    for series, step, value in points.order_by("series_id", "step").values_list("series_id", "step", "value"):
        found.setdefault(names[series], []).append((step, value))
    return found


def events(run_id: str, kinds: Collection[str] | None = None) -> QuerySet[Event]:
    """The run's events, of all kinds or only of the given ones."""
    found = Event.objects.filter(run_id=run_id)
    return found if kinds is None else found.filter(kind__in=kinds)


def rollouts(run_id: str, line: Line, *, superseded: bool = False) -> QuerySet[Rollout]:
    """Sampled rollouts on the line, or superseded ones.

    Each has a ``reward_key``, which also orders those without a reward.
    """
    found = Rollout.objects.filter(line.condition(superseded), run_id=run_id)
    return found.annotate(reward_key=Coalesce("reward", Value(BOTTOM), output_field=FloatField()))
