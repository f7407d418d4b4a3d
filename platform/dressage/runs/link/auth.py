"""The link's authentication: a secret that is good for one attempt of one run."""

from typing import Any

from django.contrib.auth.models import AnonymousUser
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from dressage.common.api.problems import conflict
from dressage.common.secrets import secret_hash
from dressage.runs.models import Attempt, Run
from dressage.runs.states import ACTIVE
from dressage.runs.tokens import PREFIX


class LinkAuthentication(BaseAuthentication):
    """``Authorization: Bearer lnk_…``; ``request.auth`` is the attempt."""

    def authenticate(self, request: Request) -> tuple[Any, Attempt]:
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not secret.startswith(PREFIX):
            raise AuthenticationFailed("The link needs the attempt's token.", code="invalid_token")
        attempt = Attempt.objects.filter(token_sha256=secret_hash(secret.strip())).first()
        if attempt is None:
            raise AuthenticationFailed("The link token is unknown or revoked.", code="invalid_token")
        return AnonymousUser(), attempt

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="link"'


class IsOwnRun(BasePermission):
    """The token is for the run in the address."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if not isinstance(request.auth, Attempt):
            return False
        if request.auth.run_id != view.kwargs["run_id"]:
            raise PermissionDenied("This token is for another run.", code="foreign_token")
        return True


def require_current(attempt: Attempt, run: Run) -> None:
    """Require that the attempt is the one that currently works on the run.

    Raises:
        Problem: 409 for an attempt that has been given up, replaced by another, or has ended: its token no longer gives
            access, and its worker stops by itself.
    """
    if attempt.fenced or attempt.number != run.attempt:
        detail = f"Attempt {attempt.number} was abandoned; the run is at attempt {run.attempt}."
        raise conflict(detail, code="stale_attempt")
    if has_ended(attempt, run):
        detail = f"Attempt {attempt.number} has ended; the run is {run.state}."
        raise conflict(detail, code="attempt_ended")


def has_ended(attempt: Attempt, run: Run) -> bool:
    """Whether the attempt, or its run, is over."""
    return attempt.ended_at is not None or run.state not in ACTIVE
