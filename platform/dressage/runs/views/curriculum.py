"""The curriculum of a run, and a preview with another band."""

from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from dressage.common.api.permissions import IsViewer
from dressage.common.scopes import Noun
from dressage.runs.facts import selectors
from dressage.runs.preview.curriculum import curriculum_document, preview_draft
from dressage.runs.preview.curriculum_serializers import (
    CurriculumPreviewRequestSerializer,
    CurriculumPreviewSerializer,
    CurriculumSerializer,
)
from dressage.teams.api import ApiView, TeamRequest


class CurriculumView(ApiView):
    noun = Noun.RUNS

    @extend_schema(operation_id="getCurriculum", tags=["controls"], responses=CurriculumSerializer)
    def get(self, request: TeamRequest, run_id: str) -> Response:
        """The run's band, and the pass rates of its prompts from the latest report of its worker."""
        return Response(curriculum_document(selectors.plain_run(request.team, run_id, with_spec=True)))


class CurriculumPreviewView(ApiView):
    noun = Noun.RUNS
    roles = {"POST": IsViewer}
    problem_statuses = {"POST": (404, 409)}

    @extend_schema(
        operation_id="previewCurriculum",
        tags=["controls"],
        request=CurriculumPreviewRequestSerializer,
        responses=CurriculumPreviewSerializer,
    )
    def post(self, request: TeamRequest, run_id: str) -> Response:
        """Predict the next batch with other values of steerable fields: its sources, pass rates and dead groups.
        Nothing is staged. Pass rates are assumed to stay unchanged."""
        run = selectors.plain_run(request.team, run_id, with_spec=True)
        body = self.body(CurriculumPreviewRequestSerializer)
        found = preview_draft(run, [(change["target"], change["value"]) for change in body["changes"]])
        return Response(CurriculumPreviewSerializer(found).data)
