"""Exports of checkpoints to object stores."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.response import Response

from dressage.common.api.idempotency import idempotent
from dressage.common.api.paging import page_query
from dressage.common.api.permissions import IsEditor
from dressage.common.api.problems import not_found
from dressage.common.api.query import Text
from dressage.common.scopes import Noun
from dressage.runs.export import exporting
from dressage.runs.facts import selectors
from dressage.runs.models import CheckpointExport, ExportState
from dressage.teams.api import ApiView, TeamRequest
from dressage.teams.models import Team


class StartExportSerializer(serializers.Serializer):
    """Destination of a checkpoint."""

    address = serializers.CharField(max_length=1000, help_text="`s3://bucket/folder`: an empty folder.")


class CheckpointExportSerializer(serializers.Serializer):
    """The export of a checkpoint to an object store."""

    id = serializers.CharField()
    checkpoint = serializers.CharField(source="checkpoint_id")
    run = serializers.CharField(source="checkpoint.run_id")
    step = serializers.IntegerField(source="checkpoint.step")
    address = serializers.CharField()
    state = serializers.ChoiceField(ExportState.choices)
    error = serializers.CharField(help_text="Why it failed or waits, and what to do; otherwise empty.")
    files_total = serializers.IntegerField(help_text="0 until the files are known.")
    files_done = serializers.IntegerField()
    bytes_total = serializers.IntegerField(help_text="0 until the files are known.")
    bytes_done = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    created_by = serializers.CharField()
    finished_at = serializers.DateTimeField(allow_null=True)


def _export(team: Team, export_id: str) -> CheckpointExport:
    found = CheckpointExport.objects.for_team(team).select_related("checkpoint").filter(pk=export_id).first()
    if found is None:
        raise not_found("export")
    return found


class StartExportView(ApiView):
    """A new export."""

    noun = Noun.RUNS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409, 410, 429)}

    @extend_schema(
        operation_id="startCheckpointExport",
        tags=["checkpoints"],
        request=StartExportSerializer,
        responses={201: CheckpointExportSerializer},
    )
    @idempotent
    def post(self, request: TeamRequest, checkpoint_id: str) -> Response:
        """Send the Hugging Face folder of a checkpoint to an object store, with the team's credentials."""
        checkpoint = selectors.checkpoint(request.team, checkpoint_id)
        address = self.body(StartExportSerializer)["address"]
        row = exporting.start_export(request.team, request.actor, checkpoint, address)
        return Response(CheckpointExportSerializer(row).data, status=status.HTTP_201_CREATED)


class ExportsView(ApiView):
    """All exports."""

    noun = Noun.RUNS
    queries = {"GET": page_query(Text(name="run", description="Only exports of this run."))}

    @extend_schema(
        operation_id="listCheckpointExports", tags=["checkpoints"], responses=CheckpointExportSerializer(many=True)
    )
    def get(self, request: TeamRequest) -> Response:
        """The team's exports, newest first."""
        rows = CheckpointExport.objects.for_team(request.team).select_related("checkpoint")
        if (run := self.query["run"]) is not None:
            rows = rows.filter(checkpoint__run=run)
        return self.page(rows, CheckpointExportSerializer)


class CheckpointExportView(ApiView):
    """One export."""

    noun = Noun.RUNS

    @extend_schema(operation_id="getCheckpointExport", tags=["checkpoints"], responses=CheckpointExportSerializer)
    def get(self, request: TeamRequest, export_id: str) -> Response:
        """An export, with its progress."""
        return Response(CheckpointExportSerializer(_export(request.team, export_id)).data)


class CancelExportView(ApiView):
    """Cancellation of an export."""

    noun = Noun.RUNS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409,)}
    without_body = frozenset({"POST"})

    @extend_schema(
        operation_id="cancelCheckpointExport", tags=["checkpoints"], request=None, responses=CheckpointExportSerializer
    )
    @idempotent
    def post(self, request: TeamRequest, export_id: str) -> Response:
        """Cancel an export, or give up a failed one. Complete files stay in the bucket."""
        row = exporting.cancel_export(request.team, request.actor, _export(request.team, export_id))
        return Response(CheckpointExportSerializer(row).data)


class RetryExportView(ApiView):
    """Retry of an export."""

    noun = Noun.RUNS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409, 429)}
    without_body = frozenset({"POST"})

    @extend_schema(
        operation_id="retryCheckpointExport", tags=["checkpoints"], request=None, responses=CheckpointExportSerializer
    )
    @idempotent
    def post(self, request: TeamRequest, export_id: str) -> Response:
        """Continue a failed or cancelled export. Files that are already in the bucket are not sent again."""
        row = exporting.retry_export(request.team, request.actor, _export(request.team, export_id))
        return Response(CheckpointExportSerializer(row).data)
