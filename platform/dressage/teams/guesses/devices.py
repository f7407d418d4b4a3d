"""Known devices: a signed cookie that a browser gets with its first sign-in to an account."""

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import salted_hmac

from dressage.common.ids import new_id
from dressage.teams.models import User

_SALT = "dressage.teams.known-device"
_KEPT_S = 400 * 24 * 3600
"""The longest time for which browsers keep cookies."""


def known_device(request: HttpRequest, user: User) -> str | None:
    """Id of the device if it has signed in to this account before."""
    try:
        owner, _, device = signing.loads(request.COOKIES.get(_name(user), ""), salt=_SALT, max_age=_KEPT_S).partition(
            " "
        )
    except signing.BadSignature:
        return None
    return device if owner == user.id else None


def remember_device(request: HttpRequest, response: HttpResponse, user: User) -> None:
    """Give the browser its cookie for this account, or a newer date to the one it has."""
    device = known_device(request, user) or new_id("dev")
    response.set_cookie(
        _name(user),
        signing.dumps(f"{user.id} {device}", salt=_SALT),
        max_age=_KEPT_S,
        path="/api/v1/session",
        httponly=True,
        secure=settings.SESSION_COOKIE_SECURE,
        samesite="Lax",
    )


def _name(user: User) -> str:
    """One cookie for each account, whose name does not tell which."""
    return "device_" + salted_hmac(_SALT, user.id, algorithm="sha256").hexdigest()[:16]
