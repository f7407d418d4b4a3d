"""REST views of rehearsals."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from dressage.common.api.idempotency import idempotent
from dressage.common.api.paging import page_query
from dressage.common.api.permissions import IsEditor
from dressage.common.scopes import Noun
from dressage.rehearsals import selectors, services
from dressage.rehearsals.documents import rehearsal_document, rehearsal_row
from dressage.rehearsals.serializers import CreateRehearsalSerializer, RehearsalRowSerializer, RehearsalSerializer
from dressage.teams.api import ApiView, TeamRequest


class RehearsalsView(ApiView):
    """All rehearsals."""

    noun = Noun.RUNS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409, 429)}
    queries = {"GET": page_query()}

    @extend_schema(operation_id="listRehearsals", tags=["rehearsals"], responses=RehearsalRowSerializer(many=True))
    def get(self, request: TeamRequest) -> Response:
        """The team's rehearsals of the last week, newest first, without specs and reports."""
        paginator = self.pagination_class()
        rows = paginator.paginate_queryset(selectors.rehearsals(request.team), request, self)
        return paginator.get_paginated_response([rehearsal_row(row) for row in rows])

    @extend_schema(
        operation_id="createRehearsal",
        tags=["rehearsals"],
        request=CreateRehearsalSerializer,
        responses={202: RehearsalSerializer},
    )
    @idempotent
    def post(self, request: TeamRequest) -> Response:
        """Sample and grade a few prompts of a spec on the cluster, as its run would. No run is created."""
        fields = self.body(CreateRehearsalSerializer)
        run = fields.pop("run", None)
        if "cluster" not in fields and run is not None:
            fields["cluster"] = services.cluster_of(request.team, run)
        rehearsal = services.create_rehearsal(request.team, request.actor, **fields)
        return Response(rehearsal_document(rehearsal), status=status.HTTP_202_ACCEPTED)


class RehearsalView(ApiView):
    """One rehearsal."""

    noun = Noun.RUNS

    @extend_schema(operation_id="getRehearsal", tags=["rehearsals"], responses=RehearsalSerializer)
    def get(self, request: TeamRequest, rehearsal_id: str) -> Response:
        """A rehearsal: its progress while it runs, then prompts, graded samples, findings and the time of a step."""
        return Response(rehearsal_document(selectors.rehearsal(request.team, rehearsal_id)))


class CancelRehearsalView(ApiView):
    """Cancellation of a rehearsal."""

    noun = Noun.RUNS
    roles = {"POST": IsEditor}
    without_body = frozenset({"POST"})
    problem_statuses = {"POST": (409,)}

    @extend_schema(
        operation_id="cancelRehearsal", tags=["rehearsals"], request=None, responses={202: RehearsalSerializer}
    )
    @idempotent
    def post(self, request: TeamRequest, rehearsal_id: str) -> Response:
        """Cancel a waiting or running rehearsal. Its worker stops within seconds."""
        rehearsal = services.cancel_rehearsal(request.team, request.actor, rehearsal_id)
        return Response(rehearsal_document(rehearsal), status=status.HTTP_202_ACCEPTED)
