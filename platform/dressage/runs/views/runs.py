"""Runs: list, create, read, rename."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.exceptions import PermissionDenied
from rest_framework.response import Response

from dressage.common.api.idempotency import idempotent
from dressage.common.api.paging import CursorPage, page_query
from dressage.common.api.permissions import IsEditor
from dressage.common.api.query import Query, Words
from dressage.common.roles import Role
from dressage.common.scopes import Noun
from dressage.runs.facts import selectors
from dressage.runs.facts.documents import CreatedRunDocument, live_run_document, run_documents
from dressage.runs.facts.serializers import (
    CreatedRunSerializer,
    CreateRunSerializer,
    LiveRunSerializer,
    RunsByIdSerializer,
    RunSerializer,
    UpdateRunSerializer,
)
from dressage.runs.life import services
from dressage.runs.needs import references
from dressage.runs.states import RunState
from dressage.teams.api import ApiView, TeamRequest
from trainer_core.explain.remarks import remarks

MOST_BY_ID = 20
"""Maximum number of whole run documents in one response."""


class RunsView(ApiView):
    """All runs."""

    noun = Noun.RUNS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409,)}
    queries = {
        "GET": page_query(
            Words(name="state", choices=RunState.values, description="Only runs in these states, separated by commas.")
        )
    }

    @extend_schema(
        operation_id="listRuns",
        tags=["runs"],
        responses=LiveRunSerializer(many=True),
    )
    def get(self, request: TeamRequest) -> Response:
        """The team's runs, newest first, without their specs."""
        found = selectors.runs(request.team)
        if self.query["state"] is not None:
            found = found.filter(state__in=self.query["state"])
        page = CursorPage()
        rows = page.paginate_queryset(found, request, self)
        return page.get_paginated_response([live_run_document(run) for run in rows])

    @extend_schema(
        operation_id="createRun", tags=["runs"], request=CreateRunSerializer, responses={201: CreatedRunSerializer}
    )
    @idempotent
    def post(self, request: TeamRequest) -> Response:
        """Create a draft; with `start`, queue it immediately. `remarks` warn of what the spec will not get."""
        fields = self.body(CreateRunSerializer)
        if fields["start"] and not request.role.covers(Role.OPERATOR):
            raise PermissionDenied("Starting a run needs the role operator.")
        run = services.create_run(request.team, request.actor, **fields)
        found = references.resolve(request.team, fields["spec"])
        parameters = None if found.policy is None else found.policy.parameters
        created: CreatedRunDocument = {
            **selectors.run_json(request.team, run.id),
            "remarks": list(remarks(fields["spec"], found.dataset_rows, parameters)),
        }
        return Response(created, status=status.HTTP_201_CREATED)


class RunsByIdView(ApiView):
    """Several runs."""

    noun = Noun.RUNS
    queries = {
        "GET": Query.of(
            Words(name="runs", most=MOST_BY_ID, required=True, description="Ids of runs, separated by commas.")
        )
    }

    @extend_schema(operation_id="listRunsById", tags=["runs"], responses=RunsByIdSerializer)
    def get(self, request: TeamRequest) -> Response:
        """Several runs with their specs, in the order of the ids; ids that do not exist are listed."""
        found = selectors.runs_by_id(request.team, self.query["runs"])
        there = {run.id for run in found}
        missing = [run_id for run_id in self.query["runs"] if run_id not in there]
        return Response({"object": "list", "data": run_documents(found), "missing": missing})


class RunView(ApiView):
    """One run."""

    noun = Noun.RUNS
    roles = {"PATCH": IsEditor}

    @extend_schema(operation_id="getRun", tags=["runs"], responses=RunSerializer)
    def get(self, request: TeamRequest, run_id: str) -> Response:
        """A run. The `ETag` is its revision, to send as `If-Match` with a control."""
        document = selectors.run_json(request.team, run_id)
        return Response(document, headers={"ETag": f'"{document["revision"]}"'})

    @extend_schema(operation_id="updateRun", tags=["runs"], request=UpdateRunSerializer, responses=RunSerializer)
    def patch(self, request: TeamRequest, run_id: str) -> Response:
        """Change name or notes."""
        services.update_run(request.team, request.actor, run_id, self.body(UpdateRunSerializer))
        return Response(selectors.run_json(request.team, run_id))
