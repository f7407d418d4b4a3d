"""Life cycle of browser sessions: begin, use, end. Django's session rows are authoritative; see ``session_store``."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import login, logout, update_session_auth_hash
from django.contrib.sessions.models import Session
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from dressage.common.api.client_address import client_address
from dressage.teams.accounts.log import PASSWORD, SESSION_ENDED, SIGNED_OUT, record_account_event
from dressage.teams.models import User, UserSession
from dressage.teams.selectors import SIGNED_IN, sessions_of
from dressage.teams.services import change_password
from dressage.teams.sessions.user_agents import device_in_words

_SEEN_EVERY_S = 60.0
"""Minimum time between two notes that a session is in use."""
_REMEMBERED = 10_000
_seen: dict[str, float] = {}
"""When this process last noted each session; cleared when it grows too large."""


def place(request: HttpRequest) -> dict[str, str]:
    """Address and device of a request, for logs."""
    return {"address": client_address(request), "device": device_in_words(request.headers.get("User-Agent", ""))}


@transaction.atomic
def begin_session(request: HttpRequest, user: User) -> None:
    """Sign in a person who has proven their identity with all factors that the account requires.

    The session gets a new id and a new CSRF token.
    """
    login(request, user)
    _limit(request)
    record_account_event(user, SIGNED_IN, **place(request))


@transaction.atomic
def leave(request: HttpRequest, user: User) -> None:
    """Sign out."""
    record_account_event(user, SIGNED_OUT, **place(request))
    logout(request)


@transaction.atomic
def change_own_password(request: HttpRequest, user: User, *, current: str, new: str) -> None:
    """Change the password. This session gets a new id and all others end. Raises a 422 problem, see the service."""
    change_password(user, current=current, new=new)
    update_session_auth_hash(request, user)
    _limit(request)
    _end(sessions_of(user).exclude(session_id=request.session.session_key))
    record_account_event(user, PASSWORD, **place(request))


@transaction.atomic
def end_session(request: HttpRequest, user: User, session: UserSession) -> None:
    """End one session of the person; its streams close at their next check."""
    device = session.device
    _end(UserSession.objects.filter(pk=session.pk))
    record_account_event(user, SESSION_ENDED, **place(request), target=device)
    if session.session_id == request.session.session_key:
        logout(request)


@transaction.atomic
def end_other_sessions(request: HttpRequest, user: User) -> None:
    """End all sessions of the person except this one."""
    others = sessions_of(user).exclude(session_id=request.session.session_key)
    if ended := _end(others):
        record_account_event(user, SESSION_ENDED, **place(request), target=f"{ended} other session{'s' * (ended > 1)}")


@transaction.atomic
def end_all_sessions(user: User) -> int:
    """End all sessions of a person on the operator's behalf. Returns how many there were."""
    ended = _end(sessions_of(user))
    if ended:
        target = f"{ended} session{'s' * (ended > 1)}"
        record_account_event(user, SESSION_ENDED, address="", device="the operator", target=target)
    return ended


def see_session(request: HttpRequest, user: User) -> bool:
    """Note, once a minute, that a session is in use. Returns False if it has ended in the meantime."""
    key, now = str(request.session.session_key), timezone.now().timestamp()
    if now - _seen.get(key, 0.0) < _SEEN_EVERY_S:
        return True
    if len(_seen) >= _REMEMBERED:
        _seen.clear()
    try:
        with transaction.atomic():
            _note(request, user)
    except IntegrityError:  # the session's row was deleted between reading it and this note
        return False
    _seen[key] = now
    return True


def remove_ended_sessions() -> None:
    """Remove the rows of expired sessions."""
    Session.objects.filter(expire_date__lt=timezone.now()).delete()


def _limit(request: HttpRequest) -> None:
    """Set the end of a new session, and create its rows."""
    request.session.set_expiry(timezone.now() + timedelta(seconds=settings.SESSION_COOKIE_AGE))
    request.session.save()
    user: Any = request.user
    _note(request, user)


def _note(request: HttpRequest, user: User) -> None:
    now, key, where = timezone.now(), str(request.session.session_key), place(request)
    rows = UserSession.objects.filter(session_id=key)
    if not rows.update(last_seen_at=now, address=where["address"]):
        UserSession.objects.create(session_id=key, user=user, created_at=now, last_seen_at=now, **where)
    begun = rows.values_list("created_at", flat=True)[0]
    ends = min(begun + timedelta(seconds=settings.SESSION_COOKIE_AGE), now + timedelta(seconds=settings.SESSION_IDLE_S))
    Session.objects.filter(pk=key).update(expire_date=ends)


def _end(sessions: QuerySet[UserSession]) -> int:
    keys = list(sessions.values_list("session_id", flat=True))
    Session.objects.filter(pk__in=keys).delete()
    return len(keys)
