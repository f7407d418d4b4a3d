"""Views of the metrics behind the charts."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from dressage.common.api.problems import invalid
from dressage.common.api.query import Choice, Flag, Number, Query, Time, Whole, Words
from dressage.common.scopes import Noun
from dressage.monitoring.serializers import (
    MetricNameListSerializer,
    MetricsSerializer,
    RunsMetricNamesSerializer,
    RunsMetricsSerializer,
)
from dressage.runs.facts.costs import held_spans
from dressage.runs.facts.selectors import line_as_of, line_of, plain_run, plain_runs
from dressage.runs.models import Run
from dressage.teams.api import ApiView, TeamRequest
from dressage.telemetry import selectors
from dressage.telemetry.axes import Axes, XAxis

MAX_KEYS, MAX_RUNS = 64, 20
DEFAULT_POINTS, MAX_POINTS = 1000, 10_000
MOST_VALUES = MAX_KEYS * MAX_POINTS
"""Points of one response, over all runs."""
_AXIS = (
    "Time is in seconds since the start. GPU hours are those that all attempts held until then; cost is their price, if"
    " the installation has one."
)


_DRAWN = (
    Words(name="keys", most=MAX_KEYS, required=True, description="Metric names, separated by commas."),
    Choice(name="x", choices=get_args(XAxis), default="step", description=_AXIS),
    Number(name="from", description="Smallest x."),
    Number(name="to", description="Largest x."),
    Whole(
        name="max_points", least=1, most=MAX_POINTS, default=DEFAULT_POINTS, description="Maximum number of buckets."
    ),
    Time(name="as_of", description="Only steps done by then; steps repeated since are shown as they were."),
    Flag(name="superseded", description="Also steps that later attempts repeated."),
)
_RUNS = Words(name="runs", most=MAX_RUNS, required=True, description="Ids of runs, separated by commas.")


class MetricsView(ApiView):
    noun = Noun.RUNS
    queries = {"GET": Query.of(*_DRAWN)}

    @extend_schema(
        operation_id="getMetrics",
        tags=["telemetry"],
        responses=MetricsSerializer,
    )
    def get(self, request: TeamRequest, run_id: str) -> Response:
        """Metrics with min, mean and max per bucket. A step that was repeated counts once, with its latest values."""
        return Response(_chart(plain_run(request.team, run_id), self.query))


class RunsMetricsView(ApiView):
    noun = Noun.RUNS
    queries = {"GET": Query.of(_RUNS, *_DRAWN)}

    @extend_schema(operation_id="getMetricsOfRuns", tags=["telemetry"], responses=RunsMetricsSerializer)
    def get(self, request: TeamRequest) -> Response:
        """The same for several runs, to be overlaid; runs that do not exist are named."""
        query = self.query
        most = MOST_VALUES // (len(query["runs"]) * len(query["keys"]))
        if query["max_points"] > most:
            detail = f"{len(query['runs'])} runs and {len(query['keys'])} keys allow at most {most} points each."
            raise invalid("/max_points", detail)
        found = plain_runs(request.team, query["runs"])
        charts = [{"run": run.id, **_chart(run, query)} for run in found]
        return Response({"object": "list", "data": charts, "missing": _missing(query["runs"], found)})


class MetricNamesView(ApiView):
    noun = Noun.RUNS

    @extend_schema(operation_id="listMetricNames", tags=["telemetry"], responses=MetricNameListSerializer)
    def get(self, request: TeamRequest, run_id: str) -> Response:
        """Every metric that the run has reported."""
        run = plain_run(request.team, run_id)
        return Response({"object": "list", "data": selectors.metric_names(run.id)})


class RunsMetricNamesView(ApiView):
    noun = Noun.RUNS
    queries = {"GET": Query.of(_RUNS)}

    @extend_schema(operation_id="listMetricNamesOfRuns", tags=["telemetry"], responses=RunsMetricNamesSerializer)
    def get(self, request: TeamRequest) -> Response:
        """Every metric that each of several runs has reported; runs that do not exist are named."""
        found = plain_runs(request.team, self.query["runs"])
        names = [{"run": run.id, "data": selectors.metric_names(run.id)} for run in found]
        return Response({"object": "list", "data": names, "missing": _missing(self.query["runs"], found)})


def _chart(run: Run, query: Mapping[str, Any]) -> selectors.MetricsDocument:
    return selectors.chart(
        run.id,
        line_of(run) if query["as_of"] is None else line_as_of(run, query["as_of"]),
        _axes(run, query["x"]),
        list(query["keys"]),
        x=query["x"],
        low=query["from"],
        high=query["to"],
        max_points=query["max_points"],
        superseded=query["superseded"],
    )


def _missing(asked: Sequence[str], found: Sequence[Run]) -> list[str]:
    there = {run.id for run in found}
    return [run_id for run_id in asked if run_id not in there]


def _axes(run: Run, x: XAxis) -> Axes:
    """Data from which the axes are computed. Raises a 422 problem for a cost without a price."""
    price = settings.GPU_HOUR_PRICE
    if x == "cost" and price is None:
        detail = "This installation has no price per GPU hour (GPU_HOUR_PRICE): request gpu_hours."
        raise invalid("/x", detail, code="no_price")
    held = held_spans(run) if x in ("gpu_hours", "cost") else ()
    return Axes(run.started_at or run.created_at, held, price or 0.0)
