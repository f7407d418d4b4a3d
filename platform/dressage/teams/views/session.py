"""Signing in and out, choosing the team."""

from typing import Any

import structlog
from django.conf import settings
from django.contrib.auth import authenticate
from django.middleware.csrf import get_token
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from dressage.common.api.permissions import AllowAny
from dressage.common.api.problems import Problem, not_found
from dressage.teams import selectors
from dressage.teams.api import ApiView, TeamRequest
from dressage.teams.authentication import SESSION_TEAM, enforce_csrf
from dressage.teams.enqueue import enqueue_failed_sign_in
from dressage.teams.guesses.devices import remember_device
from dressage.teams.guesses.limits import count_sign_in
from dressage.teams.models import User
from dressage.teams.permissions import IsSignedIn
from dressage.teams.serializers import ChooseTeamSerializer, LoginSerializer, SessionSerializer
from dressage.teams.sessions.life import begin_session, leave, place
from dressage.teams.two_factor.second_step import begin_second_step, end_second_step, second_step_of
from dressage.teams.two_factor.selectors import has_second_factor, must_enrol

logger = structlog.get_logger(__name__)


def session_document(request: Request) -> dict[str, Any]:
    """Facts about the user that the console needs."""
    http: Any = request._request
    user = http.user if isinstance(http.user, User) else None
    unenrolled = user is not None and must_enrol(user)
    # A user with a temporary password, or without a required second factor, learns nothing else.
    member = None if user is None or user.password_is_temporary or unenrolled else user
    membership = selectors.membership_for(member, http.session.get(SESSION_TEAM)) if member else None
    return SessionSerializer(
        {
            "authenticated": user is not None,
            "provider": settings.OIDC_NAME if settings.OIDC_ISSUER else None,
            "second_factor_due": user is None and second_step_of(http) is not None,
            "second_factor_missing": unenrolled,
            "user": user,
            "team": membership and membership.team,
            "role": membership and membership.role,
            "teams": selectors.teams_of(member) if member else [],
        }
    ).data


def signed_in(request: Request, user: User) -> Response:
    """The response to a completed sign-in: all required factors were given."""
    http = request._request
    end_second_step(http)
    begin_session(http, user)
    logger.info("signed_in", user=user.pk, **place(http))
    response = Response(session_document(request))
    remember_device(http, response, user)
    return response


class SessionView(ApiView):
    """The browser's session."""

    takes_temporary_passwords = True
    takes_unenrolled = True
    roles = {"GET": AllowAny, "POST": AllowAny, "DELETE": IsSignedIn}
    problem_statuses = {"POST": (401, 403, 429)}

    @extend_schema(operation_id="getSession", tags=["session"], responses=SessionSerializer)
    def get(self, request: TeamRequest) -> Response:
        """The user who is signed in. Sets the CSRF cookie, so that the sign-in form can be sent."""
        get_token(request._request)
        return Response(session_document(request))

    @extend_schema(operation_id="signIn", tags=["session"], request=LoginSerializer, responses=SessionSerializer)
    def post(self, request: TeamRequest) -> Response:
        """Sign in. The session gets a new id and a new CSRF token.

        If the account has a second factor, the session is not signed in yet: the response says so in
        `second_factor_due`.
        """
        enforce_csrf(request)
        fields = self.body(LoginSerializer)
        email, http = fields["email"].strip().lower(), request._request
        owner = User.objects.filter(email=email).first()
        guess = count_sign_in(http, email, owner, fields["device_pass"])
        user = authenticate(http, username=email, password=fields["password"])
        if not isinstance(user, User):
            where = place(http)
            logger.warning("sign_in_refused", email=email, **where)
            enqueue_failed_sign_in(email, **where)
            raise Problem(401, "Not signed in", "E-mail address or password is wrong.", code="wrong_credentials")
        guess.was_right()
        if has_second_factor(user):
            begin_second_step(http, user)
            return Response(session_document(request))
        return signed_in(request, user)

    @extend_schema(operation_id="signOut", tags=["session"], request=None, responses={204: None})
    def delete(self, request: TeamRequest) -> Response:
        """Sign out."""
        leave(request._request, request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class SessionTeamView(ApiView):
    """The team that the session works in."""

    roles = {"POST": IsSignedIn}
    problem_statuses = {"POST": (404,)}

    @extend_schema(
        operation_id="chooseTeam", tags=["session"], request=ChooseTeamSerializer, responses=SessionSerializer
    )
    def post(self, request: TeamRequest) -> Response:
        """Switch to another of your teams."""
        team = selectors.teams_of(request.user).filter(id=self.body(ChooseTeamSerializer)["team"]).first()
        if team is None:
            raise not_found("team")
        request._request.session[SESSION_TEAM] = team.id
        return Response(session_document(request))
