"""REST views of reports."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from dressage.common.api.idempotency import idempotent
from dressage.common.api.paging import page_query
from dressage.common.api.permissions import IsEditor
from dressage.common.api.revisions import if_match, seen_revision
from dressage.common.scopes import Noun
from dressage.reports import selectors, services
from dressage.reports.models import Report
from dressage.reports.serializers import (
    CreateReportSerializer,
    ReportEntrySerializer,
    ReportRevisionEntrySerializer,
    ReportRevisionSerializer,
    ReportSerializer,
    UpdateReportSerializer,
)
from dressage.teams.api import ApiView, TeamRequest


def _answer(report: Report, code: int = status.HTTP_200_OK) -> Response:
    return Response(ReportSerializer(report).data, status=code, headers={"ETag": f'"{report.revision}"'})


class ReportsView(ApiView):
    """All reports."""

    noun = Noun.RUNS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409,)}
    queries = {"GET": page_query()}

    @extend_schema(operation_id="listReports", tags=["reports"], responses=ReportEntrySerializer(many=True))
    def get(self, request: TeamRequest) -> Response:
        """The team's reports, newest first, without their content."""
        return self.page(selectors.reports(request.team), ReportEntrySerializer)

    @extend_schema(
        operation_id="createReport", tags=["reports"], request=CreateReportSerializer, responses={201: ReportSerializer}
    )
    @idempotent
    def post(self, request: TeamRequest) -> Response:
        """Create a report, which everyone in the team can read."""
        fields = self.body(CreateReportSerializer)
        return _answer(services.create_report(request.team, request.actor, **fields), status.HTTP_201_CREATED)


class ReportView(ApiView):
    """One report."""

    noun = Noun.RUNS
    roles = {"PATCH": IsEditor, "DELETE": IsEditor}
    problem_statuses = {"PATCH": (412, 428)}

    @extend_schema(operation_id="getReport", tags=["reports"], responses=ReportSerializer)
    def get(self, request: TeamRequest, report_id: str) -> Response:
        """A report. The `ETag` is its revision, for the `If-Match` of a change."""
        return _answer(selectors.report(request.team, report_id))

    @extend_schema(
        operation_id="updateReport",
        tags=["reports"],
        parameters=[if_match("report")],
        request=UpdateReportSerializer,
        responses=ReportSerializer,
    )
    def patch(self, request: TeamRequest, report_id: str) -> Response:
        """Save a new title or new blocks. The previous content remains available among the revisions.

        If the current revision is not the one in `If-Match`, the response is 412 and nothing changes.
        """
        found = selectors.report(request.team, report_id)
        fields = self.body(UpdateReportSerializer)
        seen = seen_revision(request, "report")
        return _answer(services.change_report(found, request.actor, seen, fields))

    @extend_schema(operation_id="deleteReport", tags=["reports"], responses={204: None})
    def delete(self, request: TeamRequest, report_id: str) -> Response:
        """Delete a report with its revisions."""
        services.delete_report(selectors.report(request.team, report_id), request.actor)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ReportRevisionsView(ApiView):
    """Revisions of a report."""

    noun = Noun.RUNS
    queries = {"GET": page_query()}

    @extend_schema(
        operation_id="listReportRevisions", tags=["reports"], responses=ReportRevisionEntrySerializer(many=True)
    )
    def get(self, request: TeamRequest, report_id: str) -> Response:
        """Saved revisions of a report, newest first. The newest 200 are stored, or fewer if they are long."""
        return self.page(selectors.revisions(selectors.report(request.team, report_id)), ReportRevisionEntrySerializer)


class ReportRevisionView(ApiView):
    """One revision of a report."""

    noun = Noun.RUNS

    @extend_schema(operation_id="getReportRevision", tags=["reports"], responses=ReportRevisionSerializer)
    def get(self, request: TeamRequest, report_id: str, number: int) -> Response:
        """Content of a report as it was saved. To restore it, save it again."""
        found = selectors.report(request.team, report_id)
        return Response(ReportRevisionSerializer(selectors.revision(found, number)).data)
