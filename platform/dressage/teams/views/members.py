"""The team and its members."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from dressage.common.api.paging import page_query
from dressage.common.api.permissions import IsAdmin
from dressage.common.roles import Role
from dressage.common.scopes import Noun
from dressage.teams import selectors, services
from dressage.teams.api import ApiView, TeamRequest
from dressage.teams.serializers import ChangeRoleSerializer, MemberSerializer, TeamSerializer


class TeamView(ApiView):
    """The caller's team."""

    noun = Noun.TEAM

    @extend_schema(operation_id="getTeam", tags=["team"], responses=TeamSerializer)
    def get(self, request: TeamRequest) -> Response:
        """The team of the session or token."""
        return Response(TeamSerializer(request.team).data)


class MembersView(ApiView):
    """All members. Others join by invitation."""

    noun = Noun.TEAM
    queries = {"GET": page_query()}

    @extend_schema(operation_id="listMembers", tags=["team"], responses=MemberSerializer(many=True))
    def get(self, request: TeamRequest) -> Response:
        """The team's members."""
        return self.page(selectors.members(request.team), MemberSerializer)


class MemberView(ApiView):
    """One member."""

    noun = Noun.TEAM
    people_only = frozenset({"PATCH"})
    roles = {"PATCH": IsAdmin, "DELETE": IsAdmin}
    problem_statuses = {"PATCH": (409,), "DELETE": (409,)}

    @extend_schema(
        operation_id="changeMemberRole", tags=["team"], request=ChangeRoleSerializer, responses=MemberSerializer
    )
    def patch(self, request: TeamRequest, member_id: str) -> Response:
        """Give a member another role. The last admin remains admin."""
        member = selectors.member(request.team, member_id)
        role = Role(self.body(ChangeRoleSerializer)["role"])
        return Response(MemberSerializer(services.change_role(request.team, request.actor, member, role)).data)

    @extend_schema(operation_id="removeMember", tags=["team"], request=None, responses={204: None})
    def delete(self, request: TeamRequest, member_id: str) -> Response:
        """Remove a member. The last admin cannot be removed."""
        services.remove_member(request.team, request.actor, selectors.member(request.team, member_id))
        return Response(status=status.HTTP_204_NO_CONTENT)
