"""Views of the metrics behind the charts."""

import math
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.response import Response

from dressage.common.problems import invalid
from dressage.monitoring.serializers import MetricNameListSerializer, MetricsSerializer
from dressage.runs.selectors import line_of, plain_run
from dressage.teams.api import ApiView, TeamRequest
from dressage.telemetry import selectors

MAX_KEYS = 64
DEFAULT_POINTS, MAX_POINTS = 1000, 10_000
_AXES = ("step", "time", "tokens")


class MetricsView(ApiView):
    problem_statuses = {"GET": (422,)}

    @extend_schema(
        operation_id="getMetrics",
        tags=["telemetry"],
        parameters=[
            OpenApiParameter("keys", str, required=True, description="Metric names, separated by commas."),
            OpenApiParameter("x", str, enum=_AXES, default="step", description="Time is in seconds since the start."),
            OpenApiParameter("from", float, description="Smallest x."),
            OpenApiParameter("to", float, description="Largest x."),
            OpenApiParameter(
                "max_points", OpenApiTypes.INT, default=DEFAULT_POINTS, description=f"Most buckets, up to {MAX_POINTS}."
            ),
            OpenApiParameter("superseded", bool, description="Also what later attempts have done again."),
        ],
        responses=MetricsSerializer,
    )
    def get(self, request: TeamRequest, run_id: str) -> Response:
        """Metrics with min, mean and max per bucket. A step that was done twice counts once: as it was done last."""
        run = plain_run(request.team, run_id)
        parameters = request.query_params
        keys = list(dict.fromkeys(key for key in parameters.get("keys", "").split(",") if key))
        if not 1 <= len(keys) <= MAX_KEYS:
            raise invalid("/keys", f"Name 1 to {MAX_KEYS} metrics, separated by commas.")
        axis: Any = parameters.get("x", "step")
        if axis not in _AXES:
            raise invalid("/x", f"x must be one of {', '.join(_AXES)}.")
        points = parameters.get("max_points", str(DEFAULT_POINTS))
        if not points.isascii() or not points.isdigit() or not 1 <= int(points[:9]) <= MAX_POINTS:
            raise invalid("/max_points", f"max_points must be a whole number from 1 to {MAX_POINTS}.")
        document = selectors.chart(
            run.id,
            line_of(run),
            run.started_at or run.created_at,
            keys,
            x=axis,
            low=_number(parameters, "from"),
            high=_number(parameters, "to"),
            max_points=int(points),
            superseded=parameters.get("superseded", "").lower() in ("1", "true"),
        )
        return Response(document)


class MetricNamesView(ApiView):
    @extend_schema(operation_id="listMetricNames", tags=["telemetry"], responses=MetricNameListSerializer)
    def get(self, request: TeamRequest, run_id: str) -> Response:
        """Every metric that the run has reported."""
        run = plain_run(request.team, run_id)
        return Response({"object": "list", "data": selectors.metric_names(run.id)})


def _number(parameters: Any, name: str) -> float | None:
    text = parameters.get(name)
    if text is None or text == "":
        return None
    try:
        value = float(text)
    except ValueError as error:
        raise invalid(f"/{name}", f"{name} must be a number.") from error
    if not math.isfinite(value):
        raise invalid(f"/{name}", f"{name} must be finite.")
    return value
