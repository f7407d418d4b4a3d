"""``manage.py end_sessions``."""

from collections.abc import Callable
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from rest_framework.test import APIClient

from dressage.teams.models import AccountEvent, AuditEntry, Team, User
from tests.platform.teams.test_session import PASSWORD, sign_in

pytestmark = pytest.mark.django_db
CURRENT = "/api/v1/teams/current"


def end(**whose: object) -> str:
    told = StringIO()
    call_command("end_sessions", stderr=told, **whose)
    return told.getvalue().strip()


def browser_of(user: User) -> APIClient:
    browser = APIClient(enforce_csrf_checks=True)
    sign_in(browser, user.email, PASSWORD)
    assert browser.get(CURRENT).status_code == 200
    return browser


def test_one_person_is_signed_out_everywhere(make_user: Callable[..., User], team: Team) -> None:
    user, other = make_user("viewer"), make_user("editor")
    desk, phone, of_another = browser_of(user), browser_of(user), browser_of(other)
    assert end(email=user.email.upper()) == "2 sessions ended."
    assert [browser.get(CURRENT).status_code for browser in (desk, phone, of_another)] == [401, 401, 200]
    assert AccountEvent.objects.filter(user=user, action="account.session_end").count() == 1
    assert AuditEntry.objects.get(action="account.session_end").after["ended"] == "2 sessions"
    browser_of(user)


def test_everybody_is_signed_out(make_user: Callable[..., User], team: Team) -> None:
    browsers = [browser_of(make_user("viewer")), browser_of(make_user("editor"))]
    assert end(everybody=True) == "2 sessions ended."
    assert [browser.get(CURRENT).status_code for browser in browsers] == [401, 401]


def test_an_unknown_address_ends_nothing(make_user: Callable[..., User], team: Team) -> None:
    browser = browser_of(make_user("viewer"))
    with pytest.raises(CommandError, match="no account"):
        end(email="nobody@example.com")
    assert browser.get(CURRENT).status_code == 200
