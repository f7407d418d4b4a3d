"""The audit log."""

from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from dressage.common.paging import CursorPage, page_query
from dressage.common.permissions import IsAdmin
from dressage.teams import selectors
from dressage.teams.api import ApiView, TeamRequest
from dressage.teams.serializers import AuditEntrySerializer, AuditVerificationSerializer


class NewestFirst(CursorPage):
    """Order by position in the chain."""

    ordering = ("-number",)


class AuditView(ApiView):
    """Who did what."""

    roles = {"GET": IsAdmin}
    pagination_class = NewestFirst
    queries = {"GET": page_query()}

    @extend_schema(operation_id="listAuditEntries", tags=["audit"], responses=AuditEntrySerializer(many=True))
    def get(self, request: TeamRequest) -> Response:
        """The team's audit log, newest first."""
        return self.page(selectors.audit_entries(request.team), AuditEntrySerializer)


class AuditVerificationView(ApiView):
    """Whether the log is whole."""

    roles = {"GET": IsAdmin}

    @extend_schema(operation_id="verifyAudit", tags=["audit"], responses=AuditVerificationSerializer)
    def get(self, request: TeamRequest) -> Response:
        """Check the chain of hashes from its first entry to its last."""
        broken = selectors.first_broken_audit_number(request.team)
        document = {"valid": broken is None, "entries": request.team.audit_length, "first_broken": broken}
        return Response(AuditVerificationSerializer(document).data)
