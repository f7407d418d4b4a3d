"""Checkpoints: list and download."""

import hashlib
import re
from pathlib import Path

from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.response import Response

from dressage.common.api.idempotency import idempotent_for_its_caller
from dressage.common.api.paging import CursorPage, page_query
from dressage.common.api.permissions import IsEditor
from dressage.common.api.problems import Problem
from dressage.common.api.query import Flag, Query
from dressage.common.api.ranges import download
from dressage.common.scopes import Noun
from dressage.policies.serializers import NamePolicySerializer, PolicySerializer
from dressage.policies.services import register_checkpoint
from dressage.runs.export.archive import Archive
from dressage.runs.facts import selectors
from dressage.runs.facts.documents import checkpoint_document
from dressage.runs.facts.serializers import CheckpointSerializer
from dressage.runs.life.damage import require_whole_for_request
from dressage.runs.models import Checkpoint
from dressage.teams.api import ApiView, TeamRequest

_TRAINING_STATE = frozenset({"training", "manifest.json"})


def own_folder(checkpoint: Checkpoint) -> Path:
    """The checkpoint's folder with links followed. Raises a 410 problem unless it exists inside its run's folder."""
    try:
        folder = checkpoint.folder.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise _gone() from error
    if not folder.is_relative_to(checkpoint.run.run_dir.resolve()):
        raise _gone()
    return folder


def _gone() -> Problem:
    detail = "The files of this checkpoint were removed by retention (`checkpoint.keep_last`)."
    return Problem(410, "Gone", detail, code="checkpoint_gone")


class CheckpointPage(CursorPage):
    """Latest step first."""

    ordering = ("-step", "-attempt", "-id")


class CheckpointsView(ApiView):
    noun = Noun.RUNS
    pagination_class = CheckpointPage
    queries = {"GET": page_query()}

    @extend_schema(operation_id="listCheckpoints", tags=["checkpoints"], responses=CheckpointSerializer(many=True))
    def get(self, request: TeamRequest, run_id: str) -> Response:
        """The run's checkpoints, latest step first.

        `available` shows whether the files still exist, `damaged` whether a fault was found in them.
        """
        run = selectors.plain_run(request.team, run_id)
        page = CheckpointPage()
        rows = page.paginate_queryset(selectors.checkpoints(run), request, self)
        return page.get_paginated_response([checkpoint_document(checkpoint) for checkpoint in rows])


class CheckpointPolicyView(ApiView):
    noun = Noun.POLICIES
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409, 410, 429, 503)}

    @extend_schema(
        operation_id="registerCheckpoint",
        tags=["checkpoints"],
        request=NamePolicySerializer,
        responses={201: PolicySerializer},
    )
    @idempotent_for_its_caller
    def post(self, request: TeamRequest, checkpoint_id: str) -> Response:
        """Register the weights of a checkpoint as a base policy. Copies the files and checks their recorded hashes."""
        checkpoint = selectors.checkpoint(request.team, checkpoint_id)
        policy = register_checkpoint(
            request.team,
            request.actor,
            checkpoint=checkpoint.id,
            folder=own_folder(checkpoint),
            manifest_sha256=checkpoint.manifest_sha256,
            **self.body(NamePolicySerializer),
        )
        document = PolicySerializer(policy, context={"role": request.role}).data
        return Response(document, status=status.HTTP_201_CREATED)


class DownloadCheckpointView(ApiView):
    noun = Noun.RUNS
    problem_statuses = {"GET": (409, 410, 416, 429, 503)}
    queries = {
        "GET": Query.of(Flag(name="training", description="Also the optimizer state and the manifest of hashes."))
    }

    @extend_schema(
        operation_id="downloadCheckpoint",
        tags=["checkpoints"],
        parameters=[
            OpenApiParameter("Range", location=OpenApiParameter.HEADER, description="Such as `bytes=1048576-`."),
            OpenApiParameter(
                "If-Range",
                location=OpenApiParameter.HEADER,
                description="`ETag` of the requested file.",
            ),
        ],
        responses={
            (200, "application/x-tar"): OpenApiTypes.BINARY,
            (206, "application/x-tar"): OpenApiTypes.BINARY,
        },
    )
    def get(self, request: TeamRequest, checkpoint_id: str) -> HttpResponseBase:
        """The Hugging Face folder as a .tar file, streamed. Use `Range` to request a part of it.

        Every file is compared with its recorded hash first: a damaged checkpoint is refused with the name of a file.
        """
        checkpoint = selectors.checkpoint(request.team, checkpoint_id)
        own_folder(checkpoint)
        require_whole_for_request(checkpoint)
        whole = self.query["training"]
        label = re.sub(r"[^A-Za-z0-9_\-]+", "-", checkpoint.run.name).strip("-")[:60] or "run"
        name = f"{label}-step-{checkpoint.step}"
        try:
            archive = Archive(own_folder(checkpoint), name, frozenset() if whole else _TRAINING_STATE)
        except FileNotFoundError as error:
            raise _gone() from error
        facts = f"{checkpoint.manifest_sha256} {whole} {name} {archive.size}"
        return download(
            request._request,
            archive.read,
            size=archive.size,
            etag=hashlib.sha256(facts.encode()).hexdigest()[:32],
            content_type="application/x-tar",
            filename=f"{name}.tar",
            close=archive.close,
        )
