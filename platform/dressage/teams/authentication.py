"""Authentication of callers: a session or an API token. Both give ``request.team``, ``request.role`` and
``request.actor``."""

from typing import Any

import structlog
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from rest_framework.authentication import BaseAuthentication, CSRFCheck
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.request import Request

from dressage.common.actors import Actor
from dressage.common.api.client_address import client_address
from dressage.common.roles import Role
from dressage.teams.models import Team, User
from dressage.teams.selectors import membership_for
from dressage.teams.sessions.life import see_session
from dressage.teams.tokens import TokenRefused, use_token
from dressage.teams.two_factor.selectors import must_enrol

SESSION_TEAM = "team_id"


def _no_view(request: HttpRequest) -> HttpResponse:
    """Stand-in for the next view, which the check requires but never calls."""
    return HttpResponse()


def enforce_csrf(request: Request) -> None:
    """Refuse a write whose CSRF token is missing or wrong."""
    check = CSRFCheck(_no_view)
    http = request._request
    check.process_request(http)
    reason = check.process_view(http, _no_view, (), {})
    if reason:
        raise PermissionDenied(f"CSRF check failed: {reason}", code="csrf_failed")


def attach(request: Request, *, team: Team, role: Role, actor: Actor, scopes: list[str] | None = None) -> None:
    """Attach the caller for views, services and log lines. ``scopes`` are those of a token; None holds all."""
    http: Any = request._request
    http.team, http.role, http.actor, http.scopes = team, role, actor, scopes
    structlog.contextvars.bind_contextvars(team=team.id, actor=actor.label)


class TemporaryPassword(PermissionDenied):
    """Someone else has seen the password of this session."""

    default_code = "temporary_password"
    default_detail = (
        "You signed in with a password that someone else has seen. Choose a new one (POST /api/v1/session/password):"
        " until then everything else is blocked."
    )


def _refuse_temporary_password(user: User, request: Request) -> None:
    """Limit a temporary password to views that accept it: the session itself, and the choice of a new password."""
    view = (request.parser_context or {}).get("view")
    if user.password_is_temporary and not getattr(view, "takes_temporary_passwords", False):
        raise TemporaryPassword


class SecondFactorMissing(PermissionDenied):
    """The installation requires a second factor, and the person has none."""

    default_code = "second_factor_missing"
    default_detail = (
        "This installation requires a second factor. Set one up on the page Account (POST /api/v1/account/totp): until"
        " then everything else is blocked."
    )


def _refuse_unenrolled(user: User, request: Request) -> None:
    view = (request.parser_context or {}).get("view")
    if not getattr(view, "takes_unenrolled", False) and must_enrol(user):
        raise SecondFactorMissing


class TokenAuthentication(BaseAuthentication):
    """``Authorization: Bearer drs_…``: a team's token, limited by its role, its scopes and its owner's current role."""

    keyword = "Bearer"
    prefix = "drs_"

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        secret = secret.strip()
        # Other bearer secrets, such as those of the link, belong to other authenticators.
        if scheme.lower() != "bearer" or not secret.startswith(self.prefix):
            return None
        try:
            token, role = use_token(secret, client_address(request._request))
        except TokenRefused as error:
            raise AuthenticationFailed(str(error), code="invalid_token") from error
        actor = Actor("token", token.id, token.name)
        attach(request, team=token.team, role=role, actor=actor, scopes=token.scopes)
        return AnonymousUser(), token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="api"'


class TeamSessionAuthentication(BaseAuthentication):
    """The browser's session. The membership is read on every request, so that a removal takes effect immediately."""

    def authenticate(self, request: Request) -> tuple[Any, None] | None:
        user = getattr(request._request, "user", None)
        if user is None or not user.is_authenticated or not user.is_active:
            return None
        if not see_session(request._request, user):
            return None
        _refuse_temporary_password(user, request)
        enforce_csrf(request)
        _refuse_unenrolled(user, request)
        membership = membership_for(user, request._request.session.get(SESSION_TEAM))
        if membership is not None:
            actor = Actor("user", user.id, user.email)
            attach(request, team=membership.team, role=Role(membership.role), actor=actor)
        return user, None
