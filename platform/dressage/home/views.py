"""The first page."""

from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from dressage.common.openapi.documents import DocumentSerializer
from dressage.common.scopes import Noun
from dressage.home.documents import HomeDocument, home_document
from dressage.teams.api import ApiView, TeamRequest


class HomeSerializer(DocumentSerializer, document=HomeDocument):
    """What a team needs to know first."""


class HomeView(ApiView):
    """The first page of the caller's team."""

    noun = Noun.RUNS

    @extend_schema(operation_id="getHome", tags=["home"], responses=HomeSerializer)
    def get(self, request: TeamRequest) -> Response:
        """What needs attention, runs, the queue, approvals that wait, this week's spend, and what is new."""
        return Response(home_document(request.team))
