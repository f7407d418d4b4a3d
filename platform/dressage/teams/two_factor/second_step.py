"""The second step of a sign-in: the session remembers who has given the password; no user is signed in yet."""

import time
from typing import Any

from django.contrib.auth import logout
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare

from dressage.teams.models import User

_KEY = "second_step"
GOOD_FOR_S = 600.0
"""Seconds within which the second step must follow the first."""


def begin_second_step(request: HttpRequest, user: User) -> None:
    """Remember, in a new session, that this person has given the password.

    A person who was signed in before is signed out: a session that kept its data under another id would have no row
    among the sessions of its owner, who could neither see nor end it.
    """
    logout(request)
    request.session[_KEY] = {"user": user.pk, "password": user.get_session_auth_hash(), "at": time.time()}


def second_step_of(request: HttpRequest) -> User | None:
    """The person whose second step is due. The first step becomes invalid when the password changes."""
    begun: Any = request.session.get(_KEY)
    if not begun or not 0 <= time.time() - begun["at"] < GOOD_FOR_S:
        return None
    user = User.objects.filter(pk=begun["user"], is_active=True).first()
    return user if user and constant_time_compare(user.get_session_auth_hash(), begun["password"]) else None


def end_second_step(request: HttpRequest) -> None:
    """Forget that a second step was due."""
    request.session.pop(_KEY, None)
