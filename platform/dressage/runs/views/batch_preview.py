"""The forecast of a step with another group size or other filters."""

from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from dressage.common.api.permissions import IsViewer
from dressage.common.scopes import Noun
from dressage.runs.facts import selectors
from dressage.runs.preview.batch_preview import preview_batch
from dressage.runs.preview.batch_preview_serializers import BatchPreviewRequestSerializer, BatchPreviewSerializer
from dressage.teams.api import ApiView, TeamRequest


class BatchPreviewView(ApiView):
    noun = Noun.RUNS
    roles = {"POST": IsViewer}
    problem_statuses = {"POST": (404, 409)}

    @extend_schema(
        operation_id="previewBatch",
        tags=["controls"],
        request=BatchPreviewRequestSerializer,
        responses=BatchPreviewSerializer,
    )
    def post(self, request: TeamRequest, run_id: str) -> Response:
        """Predict a step with another group size or other filters, from the groups that the run has stored: its dead
        groups, its samples, and what is filtered out. The run does not change; a fork can apply both."""
        run = selectors.plain_run(request.team, run_id, with_spec=True)
        body = self.body(BatchPreviewRequestSerializer)
        found = preview_batch(run, [(change["target"], change["value"]) for change in body["changes"]])
        return Response(BatchPreviewSerializer(found).data)
