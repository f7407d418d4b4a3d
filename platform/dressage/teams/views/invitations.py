"""Invitations: created by admins, accepted by the holder of the token."""

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from dressage.common.api.idempotency import idempotent_for_its_caller
from dressage.common.api.paging import page_query
from dressage.common.api.permissions import AllowAny, IsAdmin
from dressage.common.roles import Role
from dressage.common.scopes import Noun
from dressage.teams import selectors, services
from dressage.teams.api import ApiView, TeamRequest
from dressage.teams.authentication import SESSION_TEAM, enforce_csrf
from dressage.teams.guesses.devices import remember_device
from dressage.teams.invitations import services as invitations
from dressage.teams.invitations.limits import count_letter, count_try, looked_up
from dressage.teams.invitations.serializers import (
    AcceptInvitationSerializer,
    InvitationSerializer,
    InviteSerializer,
    NewInvitationSerializer,
    OfferSerializer,
)
from dressage.teams.models import User
from dressage.teams.serializers import SessionSerializer, with_secret
from dressage.teams.sessions.life import begin_session
from dressage.teams.views.session import session_document


class InvitationsView(ApiView):
    """The team's open invitations."""

    noun = Noun.TEAM
    people_only = frozenset({"POST"})
    roles = {"GET": IsAdmin, "POST": IsAdmin}
    problem_statuses = {"POST": (409, 429)}
    queries = {"GET": page_query()}

    @extend_schema(operation_id="listInvitations", tags=["team"], responses=InvitationSerializer(many=True))
    def get(self, request: TeamRequest) -> Response:
        """Invitations that were neither accepted nor withdrawn, including expired ones."""
        return self.page(selectors.open_invitations(request.team), InvitationSerializer)

    @extend_schema(
        operation_id="invite", tags=["team"], request=InviteSerializer, responses={201: NewInvitationSerializer}
    )
    @idempotent_for_its_caller
    def post(self, request: TeamRequest) -> Response:
        """Invite the owner of an address. The link is sent by mail; without a mail server, it is shown only this once.

        The response does not depend on whether the address has an account.
        """
        fields = self.body(InviteSerializer)
        count_letter(request.team)
        made, link = invitations.invite(request.team, request.actor, email=fields["email"], role=Role(fields["role"]))
        return Response(with_secret(NewInvitationSerializer, made, link=link), status=status.HTTP_201_CREATED)


class InvitationView(ApiView):
    """One invitation."""

    noun = Noun.TEAM
    roles = {"DELETE": IsAdmin}

    @extend_schema(operation_id="withdrawInvitation", tags=["team"], request=None, responses={204: None})
    def delete(self, request: TeamRequest, invitation_id: str) -> Response:
        """Withdraw an invitation; its link stops working immediately."""
        invitation = selectors.open_invitation(request.team, invitation_id)
        with services.acting_as_admin(request.team, request.actor):
            services.withdraw_invitation(request.team, request.actor, invitation)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ResendView(ApiView):
    """Sending an invitation again."""

    noun = Noun.TEAM
    people_only = frozenset({"POST"})
    roles = {"POST": IsAdmin}
    without_body = frozenset({"POST"})
    problem_statuses = {"POST": (409, 429)}

    @extend_schema(operation_id="resendInvitation", tags=["team"], request=None, responses=NewInvitationSerializer)
    @idempotent_for_its_caller
    def post(self, request: TeamRequest, invitation_id: str) -> Response:
        """Send an open invitation again, with a new link that is valid for another week. The old link stops working."""
        found = selectors.open_invitation(request.team, invitation_id)
        count_letter(request.team)
        made, link = invitations.invite_again(request.team, request.actor, found)
        return Response(with_secret(NewInvitationSerializer, made, link=link))


class OfferView(ApiView):
    """What an invitation offers."""

    roles = {"GET": AllowAny}
    problem_statuses: ClassVar[dict[str, tuple[int, ...]]] = {"GET": (403, 404, 429)}

    @extend_schema(operation_id="readInvitation", tags=["invitations"], responses=OfferSerializer)
    def get(self, request: TeamRequest, secret: str) -> Response:
        """The inviting team, the invited address and the role. Does not reveal whether the address has an account."""
        return Response(OfferSerializer(looked_up(request._request, secret)).data)


class AcceptView(ApiView):
    """Accepting an invitation."""

    roles = {"POST": AllowAny}
    problem_statuses = {"POST": (403, 404, 409, 429)}

    @extend_schema(
        operation_id="acceptInvitation",
        tags=["invitations"],
        request=AcceptInvitationSerializer,
        responses=SessionSerializer,
    )
    def post(self, request: TeamRequest, secret: str) -> Response:
        """Join the team, with the account that is signed in, or with a new one and the given password.

        If the address of the signed-in account is not proven, a new account replaces it. This requires its `current`
        password, and a `code` if it has a second factor.

        The session then belongs to the account that has joined, and works in the team.
        """
        enforce_csrf(request)
        fields = self.body(AcceptInvitationSerializer)
        http: Any = request._request
        looked_up(http, secret)
        count_try(secret)
        signed_in = http.user if isinstance(http.user, User) else None
        accepted = invitations.accept(http, secret, signed_in=signed_in, **fields)
        if accepted.is_new_account:
            begin_session(http, accepted.user)
        http.session[SESSION_TEAM] = accepted.membership.team_id
        response = Response(session_document(request))
        remember_device(http, response, accepted.user)
        return response
