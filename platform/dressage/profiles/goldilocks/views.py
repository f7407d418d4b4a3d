"""REST views of goldilocks."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from dressage.common.api.idempotency import idempotent
from dressage.common.api.paging import page_query
from dressage.common.api.permissions import IsEditor
from dressage.common.scopes import Noun
from dressage.datasets.selectors import stored_version
from dressage.profiles.goldilocks import selectors, services
from dressage.profiles.goldilocks.documents import goldilocks_document
from dressage.profiles.goldilocks.serializers import (
    GoldilocksSerializer,
    StartedGoldilocksSerializer,
    StartGoldilocksSerializer,
)
from dressage.teams.api import ApiView, TeamRequest


class GoldilocksView(ApiView):
    """New goldilocks."""

    noun = Noun.DATASETS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409, 429)}

    @extend_schema(
        operation_id="startGoldilocks",
        tags=["profiles"],
        request=StartGoldilocksSerializer,
        responses={200: StartedGoldilocksSerializer, 202: StartedGoldilocksSerializer},
    )
    @idempotent
    def post(self, request: TeamRequest) -> Response:
        """Let two policies try the rows of a version one after the other, and keep the rows inside their bands.

        The result is one version. Its lineage names both profiles and what was dropped. `dry_run` returns the cost of
        both stages and starts nothing.
        """
        started = services.start_goldilocks(request.team, request.actor, **self.body(StartGoldilocksSerializer))
        job = None if started.job is None else goldilocks_document(started.job)
        code = status.HTTP_200_OK if job is None else status.HTTP_202_ACCEPTED
        return Response({"cost": started.cost, "job": job}, status=code)


class VersionGoldilocksView(ApiView):
    """Goldilocks of one version."""

    noun = Noun.DATASETS
    queries = {"GET": page_query()}

    @extend_schema(operation_id="listGoldilocks", tags=["profiles"], responses=GoldilocksSerializer(many=True))
    def get(self, request: TeamRequest, dataset_id: str, number: int) -> Response:
        """The goldilocks of a version, newest first."""
        version = stored_version(request.team, dataset_id, number)
        paginator = self.pagination_class()
        rows = paginator.paginate_queryset(selectors.all_of(version), request, self)
        return paginator.get_paginated_response([goldilocks_document(row) for row in rows])


class OneGoldilocksView(ApiView):
    """One goldilocks."""

    noun = Noun.DATASETS

    @extend_schema(operation_id="getGoldilocks", tags=["profiles"], responses=GoldilocksSerializer)
    def get(self, request: TeamRequest, goldilocks_id: str) -> Response:
        """A goldilocks: its stage and profiles, then the rows that were kept and dropped at each stage."""
        return Response(goldilocks_document(selectors.goldilocks(request.team, goldilocks_id)))


class CancelGoldilocksView(ApiView):
    """Cancellation of a goldilocks."""

    noun = Noun.DATASETS
    roles = {"POST": IsEditor}
    without_body = frozenset({"POST"})
    problem_statuses = {"POST": (409,)}

    @extend_schema(operation_id="cancelGoldilocks", tags=["profiles"], request=None, responses=GoldilocksSerializer)
    @idempotent
    def post(self, request: TeamRequest, goldilocks_id: str) -> Response:
        """Cancel a goldilocks and its unfinished profile. Finished profiles remain; no version is created."""
        job = services.cancel_goldilocks(request.team, request.actor, goldilocks_id)
        return Response(goldilocks_document(job))


class UndoGoldilocksView(ApiView):
    """Deletion of the version of a goldilocks."""

    noun = Noun.DATASETS
    roles = {"POST": IsEditor}
    without_body = frozenset({"POST"})
    problem_statuses = {"POST": (409,)}

    @extend_schema(operation_id="undoGoldilocks", tags=["profiles"], request=None, responses=GoldilocksSerializer)
    @idempotent
    def post(self, request: TeamRequest, goldilocks_id: str) -> Response:
        """Delete the version that a goldilocks has created, and its row notes. Its profiles remain."""
        job = services.undo_goldilocks(request.team, request.actor, goldilocks_id)
        return Response(goldilocks_document(job))
