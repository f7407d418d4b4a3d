"""The audit log."""

from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from dressage.common.api.paging import CursorPage, page_query
from dressage.common.api.permissions import IsAdmin
from dressage.common.api.query import Choice, Query, Text, Time
from dressage.common.scopes import Noun
from dressage.teams import selectors
from dressage.teams.api import ApiView, TeamRequest
from dressage.teams.audit.export import CONTENT_TYPES, FORMATS
from dressage.teams.serializers import AuditEntrySerializer, AuditVerificationSerializer

FILTERS = (
    Time(name="since", description="Earliest time."),
    Time(name="until", description="Latest time, exclusive."),
    Text(name="actor", longest=300, description="Id or name of the actor."),
    Text(name="action", longest=80, description="Action, such as `member.add`, or its noun."),
)


def wanted(query: dict[str, Any]) -> dict[str, Any]:
    """The filters of a query."""
    return {parameter.name: query[parameter.name] for parameter in FILTERS}


class NewestFirst(CursorPage):
    """Order by position in the chain."""

    ordering = ("-number",)


class AuditView(ApiView):
    """The log of all actions."""

    noun = Noun.TEAM
    roles = {"GET": IsAdmin}
    pagination_class = NewestFirst
    queries = {"GET": page_query(*FILTERS)}

    @extend_schema(operation_id="listAuditEntries", tags=["audit"], responses=AuditEntrySerializer(many=True))
    def get(self, request: TeamRequest) -> Response:
        """The team's audit log, newest first."""
        return self.page(selectors.audit_entries(request.team, **wanted(self.query)), AuditEntrySerializer)


class AuditExportView(ApiView):
    """The log as a file."""

    noun = Noun.TEAM
    roles = {"GET": IsAdmin}
    queries = {"GET": Query.of(Choice(name="type", choices=tuple(FORMATS), default="jsonl"), *FILTERS)}

    @extend_schema(
        operation_id="exportAudit",
        tags=["audit"],
        responses={(200, kind): OpenApiTypes.BINARY for kind in CONTENT_TYPES.values()},
    )
    def get(self, request: TeamRequest) -> StreamingHttpResponse:
        """The team's audit log as CSV or lines of JSON, oldest first, with the hashes that prove it is complete."""
        name = self.query["type"]
        entries = selectors.audit_entries(request.team, **wanted(self.query))
        response = StreamingHttpResponse(FORMATS[name](entries), content_type=CONTENT_TYPES[name])
        response["Content-Disposition"] = f'attachment; filename="audit-{request.team.slug}.{name}"'
        return response


class AuditVerificationView(ApiView):
    """Whether the log is intact."""

    noun = Noun.TEAM
    roles = {"GET": IsAdmin}

    @extend_schema(operation_id="verifyAudit", tags=["audit"], responses=AuditVerificationSerializer)
    def get(self, request: TeamRequest) -> Response:
        """Check the chain of hashes from the first entry to the last."""
        broken = selectors.first_broken_audit_number(request.team)
        document = {"valid": broken is None, "entries": request.team.audit_length, "first_broken": broken}
        return Response(AuditVerificationSerializer(document).data)
