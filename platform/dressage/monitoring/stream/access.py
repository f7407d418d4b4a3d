"""Access to the stream: for the same people and tokens that may read the API. Checked before every message."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest

from dressage.common.scopes import Scope, covers
from dressage.teams.authentication import SESSION_TEAM, TokenAuthentication
from dressage.teams.models import Membership
from dressage.teams.selectors import membership_for
from dressage.teams.tokens import TokenRefused, use_token
from dressage.teams.two_factor.selectors import must_enrol

_COOKIE = settings.SESSION_COOKIE_NAME


class PasswordIsTemporary(PermissionError):
    """The caller must choose another password first; the message says so."""


@dataclass(frozen=True)
class Watcher:
    """A caller and the team it watches."""

    team_id: str
    session_key: str | None = None
    secret: str | None = None
    address: str | None = None
    """Client address, if known."""


def identify(scope: Mapping[str, Any]) -> Watcher | None:
    """The caller of a WebSocket: a session by its cookie, or an API token in the Authorization header.

    Raises:
        PasswordIsTemporary: the caller's password is temporary.
    """
    headers = dict(scope.get("headers", ()))
    scheme, _, secret = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    secret = secret.strip()
    if scheme.lower() == "bearer" and secret.startswith(TokenAuthentication.prefix):
        address = (scope.get("client") or (None,))[0]
        team_id = _team_of_token(secret, address)
        return Watcher(team_id, secret=secret, address=address) if team_id else None
    key = scope.get("cookies", {}).get(_COOKIE)
    user, chosen = _session_user(key)
    membership = membership_for(user, chosen) if user else None
    return Watcher(membership.team_id, session_key=key) if membership else None


def still_allowed(watcher: Watcher) -> bool:
    """Whether the session or token is still valid and still belongs to the team."""
    if watcher.secret is not None:
        return _team_of_token(watcher.secret, watcher.address) == watcher.team_id
    try:
        user, _ = _session_user(watcher.session_key)
    except PasswordIsTemporary:
        return False
    return user is not None and Membership.objects.filter(user=user, team_id=watcher.team_id).exists()


def _team_of_token(secret: str, address: str | None) -> str | None:
    """Id of the team whose runs a token may see; None if the token does not act, or lacks the scope."""
    try:
        token, _ = use_token(secret, address)
    except TokenRefused:
        return None
    return token.team_id if covers(token.scopes, Scope.RUNS_READ) else None


def _session_user(key: str | None) -> tuple[Any, str | None]:
    """(user, selected team) of a session that has not ended. Reads the database each time.

    Raises:
        PasswordIsTemporary: the user's password only allows choosing a new one.
    """
    if not key or "\0" in key:  # PostgreSQL cannot store NUL, so there is no such session
        return None, None
    session = import_module(settings.SESSION_ENGINE).SessionStore(session_key=key)
    # A session without a user is gone, or belongs to someone who never signed in.
    request = HttpRequest()
    request.session = session
    user = get_user(request)
    if not user.is_authenticated or not user.is_active or must_enrol(user):
        return None, None
    if user.password_is_temporary:
        raise PasswordIsTemporary("Someone else has seen your password. Choose a new one.")
    return user, session.get(SESSION_TEAM)
