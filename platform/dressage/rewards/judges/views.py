"""REST views of judge endpoints."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from dressage.common.api.idempotency import idempotent
from dressage.common.api.paging import page_query
from dressage.common.api.permissions import IsAdmin
from dressage.common.scopes import Noun
from dressage.rewards.judges import selectors, services
from dressage.rewards.judges.serializers import (
    CreateJudgeEndpointSerializer,
    JudgeEndpointSerializer,
    UpdateJudgeEndpointSerializer,
)
from dressage.teams.api import ApiView, TeamRequest


class JudgeEndpointsView(ApiView):
    """All judges."""

    noun = Noun.JUDGES
    roles = {"POST": IsAdmin}
    problem_statuses = {"POST": (409,)}
    queries = {"GET": page_query()}

    @extend_schema(operation_id="listJudgeEndpoints", tags=["rewards"], responses=JudgeEndpointSerializer(many=True))
    def get(self, request: TeamRequest) -> Response:
        """List the team's judges, newest first."""
        return self.page(selectors.judge_endpoints(request.team), JudgeEndpointSerializer)

    @extend_schema(
        operation_id="createJudgeEndpoint",
        tags=["rewards"],
        request=CreateJudgeEndpointSerializer,
        responses={201: JudgeEndpointSerializer},
    )
    @idempotent
    def post(self, request: TeamRequest) -> Response:
        """Create a judge. Its key is stored encrypted and never shown again."""
        endpoint = services.create_judge_endpoint(
            request.team, request.actor, **self.body(CreateJudgeEndpointSerializer)
        )
        return Response(JudgeEndpointSerializer(endpoint).data, status=status.HTTP_201_CREATED)


class JudgeEndpointView(ApiView):
    """One judge."""

    noun = Noun.JUDGES
    roles = {"PATCH": IsAdmin, "DELETE": IsAdmin}
    problem_statuses = {"PATCH": (409,), "DELETE": (409,)}

    @extend_schema(
        operation_id="updateJudgeEndpoint",
        tags=["rewards"],
        request=UpdateJudgeEndpointSerializer,
        responses=JudgeEndpointSerializer,
    )
    def patch(self, request: TeamRequest, endpoint_id: str) -> Response:
        """Change a judge. Runs that have begun keep its address and model, and all settings until their next attempt.

        Reward versions of the former address and model are refused in new runs.
        """
        endpoint = selectors.judge_endpoint(request.team, endpoint_id)
        fields = self.body(UpdateJudgeEndpointSerializer)
        updated = services.update_judge_endpoint(request.team, request.actor, endpoint, fields)
        return Response(JudgeEndpointSerializer(updated).data)

    @extend_schema(operation_id="deleteJudgeEndpoint", tags=["rewards"], responses={204: None})
    def delete(self, request: TeamRequest, endpoint_id: str) -> Response:
        """Delete a judge and its key."""
        endpoint = selectors.judge_endpoint(request.team, endpoint_id)
        services.delete_judge_endpoint(request.team, request.actor, endpoint)
        return Response(status=status.HTTP_204_NO_CONTENT)
