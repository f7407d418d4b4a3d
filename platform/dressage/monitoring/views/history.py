"""Events and rollouts."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.response import Response

from dressage.common.paging import CursorPage, limit_of
from dressage.common.problems import invalid
from dressage.monitoring.serializers import EventPageSerializer, RolloutSerializer
from dressage.runs.selectors import line_of, plain_run
from dressage.teams.api import ApiView, TeamRequest
from dressage.telemetry import selectors
from dressage.telemetry.documents import event_document, rollout_document

ROLLOUT_ORDERS: dict[str, tuple[str, ...]] = {
    "step": ("-step", "group_id", "sample", "id"),
    "reward": ("reward_key", "id"),
    "-reward": ("-reward_key", "-id"),
    "length": ("length", "id"),
    "-length": ("-length", "-id"),
}


class EventsView(ApiView):
    problem_statuses = {"GET": (422,)}

    @extend_schema(
        operation_id="listEvents",
        tags=["telemetry"],
        parameters=[
            OpenApiParameter("after", OpenApiTypes.INT, description="`seq` of the last event seen."),
            OpenApiParameter("limit", OpenApiTypes.INT, description="Largest number of events."),
            OpenApiParameter("kind", str, description="Only these kinds, separated by commas."),
            OpenApiParameter("order", str, enum=["desc", "asc"], default="desc", description="Newest or oldest first."),
        ],
        responses=EventPageSerializer,
    )
    def get(self, request: TeamRequest, run_id: str) -> Response:
        """What happened, newest first."""
        run = plain_run(request.team, run_id)
        limit, forward = limit_of(request), request.query_params.get("order", "desc") == "asc"
        found = selectors.events(run.id, request.query_params.get("kind", ""))
        if after := request.query_params.get("after"):
            if not (after.isascii() and after.isdigit() and len(after) < 18):
                raise invalid("/after", "after must be the seq of an event.", code="invalid_cursor")
            found = found.filter(**{"seq__gt" if forward else "seq__lt": int(after)})
        rows = list(found.order_by("seq" if forward else "-seq")[: limit + 1])
        more = len(rows) > limit
        rows = rows[:limit]
        document = {
            "object": "list",
            "data": [event_document(event) for event in rows],
            "has_more": more,
            "next": str(rows[-1].seq) if more else None,
        }
        return Response(document)


class RolloutPage(CursorPage):
    """Rollouts in the order that was asked for."""

    def __init__(self, ordering: tuple[str, ...]) -> None:
        self.ordering = ordering


class RolloutsView(ApiView):
    @extend_schema(
        operation_id="listRollouts",
        tags=["telemetry"],
        parameters=[
            OpenApiParameter("step", OpenApiTypes.INT, description="Only this step."),
            OpenApiParameter("source", str, description="Only this source."),
            OpenApiParameter("group_id", str, description="Only this prompt group."),
            OpenApiParameter("min_reward", float, description="Only rewards of at least this."),
            OpenApiParameter(
                "order", str, enum=list(ROLLOUT_ORDERS), default="step", description="`step`: newest first."
            ),
            OpenApiParameter("superseded", bool, description="Instead, what later attempts have done again."),
        ],
        responses=RolloutSerializer(many=True),
    )
    def get(self, request: TeamRequest, run_id: str) -> Response:
        """Sampled completions with their rewards."""
        run = plain_run(request.team, run_id)
        parameters = request.query_params
        order = parameters.get("order", "step")
        if order not in ROLLOUT_ORDERS:
            raise invalid("/order", f"order must be one of {', '.join(ROLLOUT_ORDERS)}.")
        superseded = parameters.get("superseded", "").lower() in ("1", "true")
        found = selectors.rollouts(run.id, line_of(run), superseded=superseded)
        found = found.filter(**_filters(parameters))
        page = RolloutPage(ROLLOUT_ORDERS[order])
        rows = page.paginate_queryset(found, request, self)
        return page.get_paginated_response([rollout_document(rollout) for rollout in rows])


def _filters(parameters: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in ("source", "group_id"):
        if parameters.get(name):
            found[name] = parameters[name]
    if step := parameters.get("step"):
        if not (step.isascii() and step.isdigit() and int(step[:11]) < 2**31):
            raise invalid("/step", "step must be a whole number.")
        found["step"] = int(step)
    if least := parameters.get("min_reward"):
        try:
            found["reward__gte"] = float(least)
        except ValueError as error:
            raise invalid("/min_reward", "min_reward must be a number.") from error
    return found
