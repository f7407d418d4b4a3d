"""Checkpoints: list and download."""

import re

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.response import Response

from dressage.common.paging import CursorPage
from dressage.common.problems import Problem
from dressage.runs import selectors
from dressage.runs.archive import Archive
from dressage.runs.documents import checkpoint_document
from dressage.runs.serializers import CheckpointSerializer
from dressage.teams.api import ApiView, TeamRequest

_TRAINING_STATE = frozenset({"training", "manifest.json"})


class CheckpointPage(CursorPage):
    """Latest step first."""

    ordering = ("-step", "-attempt", "-id")


class CheckpointsView(ApiView):
    pagination_class = CheckpointPage

    @extend_schema(operation_id="listCheckpoints", tags=["checkpoints"], responses=CheckpointSerializer(many=True))
    def get(self, request: TeamRequest, run_id: str) -> Response:
        """The run's checkpoints, latest step first; `available` tells whether the files are still there."""
        run = selectors.plain_run(request.team, run_id)
        page = CheckpointPage()
        rows = page.paginate_queryset(selectors.checkpoints(run), request, self)
        return page.get_paginated_response([checkpoint_document(checkpoint) for checkpoint in rows])


class DownloadCheckpointView(ApiView):
    problem_statuses = {"GET": (410,)}

    @extend_schema(
        operation_id="downloadCheckpoint",
        tags=["checkpoints"],
        parameters=[
            OpenApiParameter(
                "training", OpenApiTypes.BOOL, description="Also the optimizer state and the manifest of hashes."
            )
        ],
        responses={(200, "application/x-tar"): OpenApiTypes.BINARY},
    )
    def get(self, request: TeamRequest, checkpoint_id: str) -> StreamingHttpResponse:
        """The Hugging Face folder as a .tar file, streamed."""
        checkpoint = selectors.checkpoint(request.team, checkpoint_id)
        whole = request.query_params.get("training", "").lower() in ("1", "true")
        label = re.sub(r"[^A-Za-z0-9_\-]+", "-", checkpoint.run.name).strip("-")[:60] or "run"
        name = f"{label}-step-{checkpoint.step}"
        root = checkpoint.run.run_dir.resolve()
        try:
            folder = checkpoint.folder.resolve(strict=True)
            if not folder.is_relative_to(root):
                raise FileNotFoundError(folder)
            archive = Archive(folder, name, frozenset() if whole else _TRAINING_STATE)
        except FileNotFoundError as error:
            detail = "The files of this checkpoint have been deleted, as `checkpoint.keep_last` asks."
            raise Problem(410, "Gone", detail, code="checkpoint_gone") from error
        response = StreamingHttpResponse(archive.stream(), content_type="application/x-tar")
        response["Content-Length"] = str(archive.size)
        response["Content-Disposition"] = f'attachment; filename="{name}.tar"'
        return response
