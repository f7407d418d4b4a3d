"""Controls: changes to a run while it trains."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from rest_framework import status
from rest_framework.response import Response

from dressage.common.api.idempotency import idempotent
from dressage.common.api.paging import CursorPage, page_query
from dressage.common.api.permissions import IsEditor, IsOperator
from dressage.common.api.revisions import if_match, seen_revision
from dressage.common.scopes import Noun
from dressage.runs.facts import selectors
from dressage.runs.facts.documents import control_document
from dressage.runs.facts.serializers import (
    ControlListSerializer,
    ControlSerializer,
    RevertSerializer,
    RewindSerializer,
    RunSerializer,
    StageControlSerializer,
    StageControlsSerializer,
    TargetListSerializer,
    TargetSerializer,
)
from dressage.runs.recovery import branches
from dressage.runs.steer import controls, staging
from dressage.runs.steer.change_sets import staged_spec
from dressage.teams.api import ApiView, TeamRequest
from trainer_core.spec import targets

_IF_MATCH = if_match("run")
_ONE_OR_SEVERAL = PolymorphicProxySerializer(
    component_name="StageOneOrSeveral",
    serializers=[StageControlSerializer, StageControlsSerializer],
    resource_type_field_name=None,
)
_ANSWERS: list[Any] = [ControlSerializer, ControlListSerializer]
_STAGED = PolymorphicProxySerializer(component_name="Staged", serializers=_ANSWERS, resource_type_field_name=None)


class ControlPage(CursorPage):
    """Newest revision first."""

    ordering = ("-revision",)


def _accepted(body: Mapping[str, object], revision: int) -> Response:
    return Response(body, status=status.HTTP_202_ACCEPTED, headers={"ETag": f'"{revision}"'})


class TargetsView(ApiView):
    noun = Noun.RUNS

    @extend_schema(operation_id="listTargets", tags=["controls"], responses=TargetListSerializer)
    def get(self, request: TeamRequest, run_id: str) -> Response:
        """Every field that can be changed, with the value it will have once all staged controls are in effect."""
        run = selectors.plain_run(request.team, run_id, with_spec=True)
        found = TargetSerializer(targets(staged_spec(run)), many=True).data
        return Response({"object": "list", "data": found, "revision": run.revision})


class ControlsView(ApiView):
    noun = Noun.RUNS
    pagination_class = ControlPage
    roles = {"POST": IsOperator}
    problem_statuses = {"POST": (409, 412, 428)}
    queries = {"GET": page_query()}

    @extend_schema(operation_id="listControls", tags=["controls"], responses=ControlSerializer(many=True))
    def get(self, request: TeamRequest, run_id: str) -> Response:
        """The run's controls, newest first. Controls are never deleted."""
        run = selectors.plain_run(request.team, run_id)
        page = ControlPage()
        rows = page.paginate_queryset(selectors.controls(run), request, self)
        answer = page.get_paginated_response([control_document(control) for control in rows])
        answer["ETag"] = f'"{run.revision}"'
        return answer

    @extend_schema(
        operation_id="stageControl",
        tags=["controls"],
        parameters=[_IF_MATCH],
        request=_ONE_OR_SEVERAL,
        responses={202: _STAGED},
    )
    @idempotent
    def post(self, request: TeamRequest, run_id: str) -> Response:
        """Stage a change, or several with `changes`: they are staged together or not at all, and take effect together.

        A 412 response lists the `changes` that others have made since `If-Match`.
        """
        run = selectors.plain_run(request.team, run_id)
        listed = isinstance(request.data, Mapping) and "changes" in request.data
        fields = self.body(StageControlsSerializer if listed else StageControlSerializer)
        revision = seen_revision(request, "run")
        if not listed:
            control = staging.stage_control(request.team, request.actor, run.id, revision=revision, **fields)
            return _accepted(control_document(control), control.revision)
        fields["changes"] = [(change["target"], change["value"]) for change in fields["changes"]]
        made = staging.stage_controls(request.team, request.actor, run.id, revision=revision, **fields)
        newest = max(control.revision for control in made)
        answer = {"object": "list", "data": [control_document(control) for control in made], "revision": newest}
        return _accepted(answer, newest)


class CancelControlView(ApiView):
    noun = Noun.RUNS
    roles = {"POST": IsOperator}
    without_body = frozenset({"POST"})
    problem_statuses = {"POST": (409,)}

    @extend_schema(operation_id="cancelControl", tags=["controls"], request=None, responses={200: ControlSerializer})
    @idempotent
    def post(self, request: TeamRequest, run_id: str, control_id: str) -> Response:
        """Cancel a staged control, along with all controls that were staged together with it."""
        control = controls.cancel_control(request.team, request.actor, run_id, control_id)
        return Response(control_document(control))


class RevertControlView(ApiView):
    noun = Noun.RUNS
    roles = {"POST": IsOperator}
    problem_statuses = {"POST": (409, 412, 428)}

    @extend_schema(
        operation_id="revertControl",
        tags=["controls"],
        parameters=[if_match("run", required=False)],
        request=RevertSerializer,
        responses={202: ControlSerializer},
    )
    @idempotent
    def post(self, request: TeamRequest, run_id: str, control_id: str) -> Response:
        """Restore the old value as a new control. `If-Match` is optional and checked if present."""
        selectors.plain_run(request.team, run_id)
        seen = seen_revision(request, "run") if "If-Match" in request.headers else None
        reason = self.body(RevertSerializer)["reason"]
        control = controls.revert_control(request.team, request.actor, run_id, control_id, revision=seen, reason=reason)
        return Response(control_document(control), status=status.HTTP_202_ACCEPTED)


class RewindControlView(ApiView):
    noun = Noun.RUNS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409,)}

    @extend_schema(
        operation_id="rewindControl", tags=["controls"], request=RewindSerializer, responses={201: RunSerializer}
    )
    @idempotent
    def post(self, request: TeamRequest, run_id: str, control_id: str) -> Response:
        """Create a draft run that continues from the checkpoint before a control."""
        fields = self.body(RewindSerializer)
        child = branches.rewind_control(request.team, request.actor, run_id, control_id, name=fields.get("name"))
        return Response(selectors.run_json(request.team, child.id), status=status.HTTP_201_CREATED)
