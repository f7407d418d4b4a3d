"""The first page."""

from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from dressage.common.openapi.documents import DocumentSerializer
from dressage.common.scopes import Noun
from dressage.home.documents import HomeDocument, home_document
from dressage.teams.api import ApiView, TeamRequest


class HomeSerializer(DocumentSerializer, document=HomeDocument):
    """The most important facts for a team."""


class HomeView(ApiView):
    """The first page of the caller's team."""

    noun = Noun.RUNS

    @extend_schema(operation_id="getHome", tags=["home"], responses=HomeSerializer)
    def get(self, request: TeamRequest) -> Response:
        """The most important facts for a team.

        Runs that need attention, active and queued runs, pending approvals, this week's spend, and recent checkpoints
        and policies.
        """
        return Response(home_document(request.team))
