"""Known devices: a signed cookie that a browser gets on its first sign-in to an account."""

from datetime import timedelta

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import salted_hmac

from dressage.common.ids import new_id
from dressage.teams.models import User

_SALT = "dressage.teams.known-device"
_PASS_SALT = "dressage.teams.device-pass"  # nosec B105  (no secret)
PASS_S = 600.0
"""Seconds for which a pass is valid."""
_BY_PASS = "pass"  # nosec B105  (no secret)
"""Device that all passes of an account share: however many are created, they have one line of guesses."""
_KEPT_S = 400 * 24 * 3600
"""The longest time that browsers keep cookies."""


def known_device(request: HttpRequest, user: User, device_pass: str = "") -> str | None:  # nosec B107
    """Id of the device if it has signed in to this account before, or has a pass for this account."""
    cookie = _read(_cookie(request, user), user, _SALT, _KEPT_S)
    if cookie is not None:
        return cookie
    return None if _read(device_pass, user, _PASS_SALT, PASS_S) is None else _BY_PASS


def make_device_pass(user: User) -> str:
    """A pass that makes a new device known to the account for some minutes. It proves nothing else."""
    return signing.dumps(f"{user.id} {_BY_PASS}", salt=_PASS_SALT)


def remember_device(request: HttpRequest, response: HttpResponse, user: User) -> None:
    """Give the browser its cookie for this account, or renew the one it has."""
    device = known_device(request, user) or new_id("dev")
    response.set_cookie(
        settings.COOKIE_PREFIX + _name(user),
        signing.dumps(f"{user.id} {device}", salt=_SALT),
        max_age=_KEPT_S,
        path="/" if settings.COOKIE_PREFIX else "/api/v1/session",  # the prefix requires the whole host
        httponly=True,
        secure=settings.SESSION_COOKIE_SECURE,
        samesite="Lax",
    )


def _read(text: str, user: User, salt: str, max_age: float) -> str | None:
    try:
        owner, _, device = str(signing.loads(text, salt=salt, max_age=timedelta(seconds=max_age))).partition(" ")
    except signing.BadSignature:
        return None
    return device if owner == user.id else None


def _cookie(request: HttpRequest, user: User) -> str:
    """The account's cookie. One without the prefix is from an earlier release, and just as good since it is signed."""
    name = _name(user)
    return request.COOKIES.get(settings.COOKIE_PREFIX + name) or request.COOKIES.get(name, "")


def _name(user: User) -> str:
    """Name of the cookie: one for each account, without revealing which."""
    return "device_" + salted_hmac(_SALT, user.id, algorithm="sha256").hexdigest()[:16]
