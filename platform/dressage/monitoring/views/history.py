"""Events and rollouts."""

from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from dressage.common.api.paging import LIMIT, CursorPage, page_query
from dressage.common.api.permissions import has_scopes
from dressage.common.api.query import Choice, Flag, Number, Query, Text, Whole, Words
from dressage.common.scopes import Noun
from dressage.monitoring.rollout_filters import REASON_SCOPES
from dressage.monitoring.serializers import EventPageSerializer, PromptSerializer, RolloutSerializer
from dressage.runs.facts.selectors import line_of, plain_run
from dressage.teams.api import ApiView, TeamRequest
from dressage.telemetry import selectors
from dressage.telemetry.documents import EVENT_KINDS, event_document, rollout_document
from dressage.telemetry.prompts import prompt_document, prompts
from dressage.telemetry.traces.reading import fill
from trainer_core.steering.fates import FATE_KINDS

ROLLOUT_ORDERS: dict[str, tuple[str, ...]] = {
    "step": ("-step", "group_id", "sample", "id"),
    "reward": ("reward_key", "id"),
    "-reward": ("-reward_key", "-id"),
    "length": ("length", "id"),
    "-length": ("-length", "-id"),
}
_FILTERS = {
    "step": "step",
    "source": "source",
    "group_id": "group_id",
    "prompt_id": "prompt_id",
    "min_reward": "reward__gte",
}


class EventsView(ApiView):
    noun = Noun.RUNS
    queries = {
        "GET": Query.of(
            Whole(
                name="after",
                most=2**63 - 1,
                what="the seq of an event",
                code="invalid_cursor",
                description="`seq` of the last event seen.",
            ),
            LIMIT,
            Words(name="kind", choices=EVENT_KINDS, description="Only these kinds, separated by commas."),
            Choice(name="order", choices=("desc", "asc"), default="desc", description="Newest or oldest first."),
        )
    }

    @extend_schema(
        operation_id="listEvents",
        tags=["telemetry"],
        responses=EventPageSerializer,
    )
    def get(self, request: TeamRequest, run_id: str) -> Response:
        """Events of the run, newest first."""
        run = plain_run(request.team, run_id)
        limit, forward, after = self.query["limit"], self.query["order"] == "asc", self.query["after"]
        found = selectors.events(run.id, self.query["kind"])
        if after is not None:
            found = found.filter(**{"seq__gt" if forward else "seq__lt": after})
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
    """Rollouts in the requested order."""

    def __init__(self, ordering: tuple[str, ...]) -> None:
        self.ordering = ordering


class RolloutsView(ApiView):
    noun = Noun.RUNS
    queries = {
        "GET": page_query(
            Whole(name="step", description="Only this step."),
            Text(name="source", description="Only this source."),
            Text(name="group_id", description="Only this prompt group."),
            Text(name="prompt_id", description="Only this prompt: `<source>:<row, from 0>`."),
            Number(name="min_reward", description="Only rewards of at least this."),
            Choice(name="order", choices=tuple(ROLLOUT_ORDERS), default="step", description="`step`: newest first."),
            Flag(name="superseded", description="Instead, steps that later attempts repeated."),
        )
    }

    @extend_schema(
        operation_id="listRollouts",
        tags=["telemetry"],
        responses=RolloutSerializer(many=True),
    )
    def get(self, request: TeamRequest, run_id: str) -> Response:
        """Sampled completions with their rewards."""
        run = plain_run(request.team, run_id)
        found = selectors.rollouts(run.id, line_of(run), superseded=self.query["superseded"])
        asked = {column: self.query[name] for name, column in _FILTERS.items()}
        found = found.filter(**{column: value for column, value in asked.items() if value is not None})
        page = RolloutPage(ROLLOUT_ORDERS[self.query["order"]])
        rows = page.paginate_queryset(found, request, self)
        fill(rows)
        reasons = has_scopes(request, *REASON_SCOPES)
        return page.get_paginated_response([rollout_document(rollout, reasons=reasons) for rollout in rows])


class PromptPage(CursorPage):
    """Prompts by step."""

    ordering = ("-step", "row", "id")


class PromptsView(ApiView):
    noun = Noun.RUNS
    queries = {
        "GET": page_query(
            Whole(name="step", description="Only this step."),
            Choice(name="fate", choices=FATE_KINDS, description="Only prompts that became this."),
        )
    }

    @extend_schema(
        operation_id="listPrompts",
        tags=["telemetry"],
        responses=PromptSerializer(many=True),
    )
    def get(self, request: TeamRequest, run_id: str) -> Response:
        """Prompts whose groups have come back, newest step first, with rows and fates.

        Groups that no batch had are included, such as those that dynamic sampling replaced.
        """
        run = plain_run(request.team, run_id)
        asked = {name: self.query[name] for name in ("step", "fate") if self.query[name] is not None}
        page = PromptPage()
        rows = page.paginate_queryset(prompts(run.id, line_of(run)).filter(**asked), request, self)
        return page.get_paginated_response([prompt_document(found) for found in rows])
