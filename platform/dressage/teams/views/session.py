"""Signing in and out, choosing the team, changing one's password."""

from typing import Any

import structlog
from django.contrib.auth import authenticate, login, logout, update_session_auth_hash
from django.middleware.csrf import get_token
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from dressage.common.permissions import AllowAny
from dressage.common.problems import Problem, not_found
from dressage.teams import selectors, services
from dressage.teams.api import ApiView, TeamRequest
from dressage.teams.authentication import SESSION_TEAM, enforce_csrf
from dressage.teams.models import User
from dressage.teams.serializers import ChooseTeamSerializer, LoginSerializer, PasswordSerializer, SessionSerializer
from dressage.teams.throttling import AccountThrottle, AddressThrottle

logger = structlog.get_logger(__name__)


class IsSignedIn(BasePermission):
    """A person in a browser; not a token."""

    message = "This needs a browser session."

    def has_permission(self, request: Request, view: Any) -> bool:
        return isinstance(request.user, User)


def session_document(request: Request) -> dict[str, Any]:
    """Facts that the console needs to know about its user."""
    http: Any = request._request
    user = http.user if isinstance(http.user, User) else None
    membership = selectors.membership_for(user, http.session.get(SESSION_TEAM)) if user else None
    return SessionSerializer(
        {
            "authenticated": user is not None,
            "user": user,
            "team": membership and membership.team,
            "role": membership and membership.role,
            "teams": selectors.teams_of(user) if user else [],
        }
    ).data


class SessionView(ApiView):
    """The browser's session."""

    roles = {"GET": AllowAny, "POST": AllowAny, "DELETE": IsSignedIn}
    problem_statuses = {"POST": (401, 403, 429)}

    def get_throttles(self) -> list[Any]:
        self.guesses = [AddressThrottle(), AccountThrottle()] if self.request.method == "POST" else []
        return self.guesses

    @extend_schema(operation_id="getSession", tags=["session"], responses=SessionSerializer)
    def get(self, request: TeamRequest) -> Response:
        """Who is signed in. Sets the CSRF cookie, so that the sign-in form can be sent."""
        get_token(request._request)
        return Response(session_document(request))

    @extend_schema(operation_id="signIn", tags=["session"], request=LoginSerializer, responses=SessionSerializer)
    def post(self, request: TeamRequest) -> Response:
        """Sign in. The session gets a new id and a new CSRF token."""
        enforce_csrf(request)
        fields = self.body(LoginSerializer)
        user = authenticate(request._request, username=fields["email"].lower(), password=fields["password"])
        if user is None:
            logger.warning("sign_in_refused", email=fields["email"])
            raise Problem(401, "Not signed in", "E-mail address or password is wrong.", code="wrong_credentials")
        for guess in self.guesses:
            guess.give_back()
        login(request._request, user)
        logger.info("signed_in", user=user.pk)
        return Response(session_document(request))

    @extend_schema(operation_id="signOut", tags=["session"], request=None, responses={204: None})
    def delete(self, request: TeamRequest) -> Response:
        """Sign out."""
        logout(request._request)
        return Response(status=status.HTTP_204_NO_CONTENT)


class SessionTeamView(ApiView):
    """The team that the session works in."""

    roles = {"POST": IsSignedIn}
    problem_statuses = {"POST": (404,)}

    @extend_schema(
        operation_id="chooseTeam", tags=["session"], request=ChooseTeamSerializer, responses=SessionSerializer
    )
    def post(self, request: TeamRequest) -> Response:
        """Work in another of one's teams."""
        team = selectors.teams_of(request.user).filter(id=self.body(ChooseTeamSerializer)["team"]).first()
        if team is None:
            raise not_found("team")
        request._request.session[SESSION_TEAM] = team.id
        return Response(session_document(request))


class PasswordView(ApiView):
    """The user's own password."""

    roles = {"POST": IsSignedIn}
    problem_statuses = {"POST": (429,)}

    def get_throttles(self) -> list[Any]:
        self.guesses = [AddressThrottle(), AccountThrottle()]
        return self.guesses

    @extend_schema(operation_id="changePassword", tags=["session"], request=PasswordSerializer, responses={204: None})
    def post(self, request: TeamRequest) -> Response:
        """Change one's password. Other sessions of the user end."""
        fields = self.body(PasswordSerializer)
        services.change_password(request.user, current=fields["current"], new=fields["new"])
        for guess in self.guesses:
            guess.give_back()
        update_session_auth_hash(request._request, request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)
