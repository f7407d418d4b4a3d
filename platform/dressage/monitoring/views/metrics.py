"""Views of the metrics behind the charts."""

from typing import get_args

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from dressage.common.problems import invalid
from dressage.common.query import Choice, Flag, Number, Query, Time, Whole, Words
from dressage.common.scopes import Noun
from dressage.monitoring.serializers import MetricNameListSerializer, MetricsSerializer
from dressage.runs.costs import held_spans
from dressage.runs.models import Run
from dressage.runs.selectors import line_as_of, line_of, plain_run
from dressage.teams.api import ApiView, TeamRequest
from dressage.telemetry import selectors
from dressage.telemetry.axes import Axes, XAxis

MAX_KEYS = 64
DEFAULT_POINTS, MAX_POINTS = 1000, 10_000
_AXIS = (
    "Time is in seconds since the start. GPU hours are those that all attempts have held by then; cost is their price, "
    "where the installation has one."
)


class MetricsView(ApiView):
    noun = Noun.RUNS
    queries = {
        "GET": Query.of(
            Words(name="keys", most=MAX_KEYS, required=True, description="Metric names, separated by commas."),
            Choice(name="x", choices=get_args(XAxis), default="step", description=_AXIS),
            Number(name="from", description="Smallest x."),
            Number(name="to", description="Largest x."),
            Whole(name="max_points", least=1, most=MAX_POINTS, default=DEFAULT_POINTS, description="Most buckets."),
            Time(name="as_of", description="Only steps that were done by then; what was repeated since is as it was."),
            Flag(name="superseded", description="Also what later attempts have done again."),
        )
    }

    @extend_schema(
        operation_id="getMetrics",
        tags=["telemetry"],
        responses=MetricsSerializer,
    )
    def get(self, request: TeamRequest, run_id: str) -> Response:
        """Metrics with min, mean and max per bucket. A step that was done twice counts once: as it was done last."""
        run = plain_run(request.team, run_id)
        query = self.query
        document = selectors.chart(
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
        return Response(document)


class MetricNamesView(ApiView):
    noun = Noun.RUNS

    @extend_schema(operation_id="listMetricNames", tags=["telemetry"], responses=MetricNameListSerializer)
    def get(self, request: TeamRequest, run_id: str) -> Response:
        """Every metric that the run has reported."""
        run = plain_run(request.team, run_id)
        return Response({"object": "list", "data": selectors.metric_names(run.id)})


def _axes(run: Run, x: XAxis) -> Axes:
    """What the axes are computed from. Raises a 422 problem for a cost without a price."""
    price = settings.GPU_HOUR_PRICE
    if x == "cost" and price is None:
        detail = "This installation has no price of a GPU hour (GPU_HOUR_PRICE): ask for gpu_hours."
        raise invalid("/x", detail, code="no_price")
    held = held_spans(run) if x in ("gpu_hours", "cost") else ()
    return Axes(run.started_at or run.created_at, held, price or 0.0)
