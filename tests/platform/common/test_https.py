"""What changes where the console is reached over TLS: names of cookies, and what is refused without it."""

import logging
from collections.abc import Callable
from typing import Any

import pytest
from django.test import override_settings
from rest_framework.test import APIClient

from dressage.common.logs import REFUSALS, REFUSALS_OF_NOBODY
from dressage.teams.models import User
from tests.platform.teams.test_session import PASSWORD

SESSION = "/api/v1/session"
TLS = {
    "COOKIE_PREFIX": "__Host-",
    "SESSION_COOKIE_NAME": "__Host-sessionid",
    "CSRF_COOKIE_NAME": "__Host-csrftoken",
    "SESSION_COOKIE_SECURE": True,
    "CSRF_COOKIE_SECURE": True,
    "SECURE_SSL_REDIRECT": True,
}
"""Settings that follow from an https:// address; ``tests/platform/supervisor`` starts a process with one."""


def sign_in(browser: APIClient, user: User) -> None:
    browser.get(SESSION, secure=True)
    token = next(cookie.value for name, cookie in browser.cookies.items() if name.endswith("csrftoken"))
    body = {"email": user.email, "password": PASSWORD}
    headers: Any = {"HTTP_X_CSRFTOKEN": token, "HTTP_REFERER": "https://testserver/"}
    answer = browser.post(SESSION, body, format="json", secure=True, **headers)
    assert answer.status_code == 200, answer.content


@override_settings(**TLS)
def test_every_cookie_is_of_this_host_alone(make_user: Callable[..., User]) -> None:
    browser = APIClient(enforce_csrf_checks=True)
    sign_in(browser, make_user())
    assert len(browser.cookies) == 3
    for name, cookie in browser.cookies.items():
        assert name.startswith("__Host-"), name
        assert (cookie["secure"], cookie["path"], cookie["domain"], cookie["samesite"]) == (True, "/", "", "Lax")
        assert bool(cookie["httponly"]) is ("csrftoken" not in name)


def test_a_device_of_before_is_still_known(make_user: Callable[..., User]) -> None:
    from dressage.teams.guesses.devices import known_device

    user, browser = make_user(), APIClient(enforce_csrf_checks=True)
    sign_in(browser, user)
    request = browser.get(SESSION).wsgi_request
    before = known_device(request, user)
    with override_settings(**TLS):
        assert before and known_device(request, user) == before


@override_settings(**TLS)
def test_pages_are_redirected_and_the_api_is_refused(db: None) -> None:
    browser = APIClient()
    page = browser.get("/runs")
    assert (page.status_code, page["Location"]) == (301, "https://testserver/runs")
    answer = browser.get(SESSION)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "https_only")
    assert browser.get("/api/v1/link/attempts/x/bundle").json()["error"]["code"] != "https_only"
    assert browser.get(SESSION, secure=True).status_code == 200


@override_settings(**TLS, SECURE_HSTS_SECONDS=31_536_000, SECURE_HSTS_INCLUDE_SUBDOMAINS=True)
@pytest.mark.parametrize("path", [SESSION, "/runs", "/api/v1/nothing", "/static/nothing.js"])
def test_browsers_are_told_to_stay_with_tls(path: str, db: None) -> None:
    assert APIClient().get(path, secure=True)["Strict-Transport-Security"] == "max-age=31536000; includeSubDomains"


def test_what_is_refused_to_somebody_is_a_line(
    api: Callable[..., APIClient], caplog: pytest.LogCaptureFixture, db: None
) -> None:
    viewer = api("viewer")
    with caplog.at_level(logging.WARNING, REFUSALS):
        assert viewer.post("/api/v1/teams/current/invitations", {}, format="json").status_code == 403
    line = next(record.getMessage() for record in caplog.records if record.name == REFUSALS)
    assert "method='POST' route='api/v1/teams/current/invitations'" in line
    assert viewer.user.email in line, line  # type: ignore[attr-defined]


def test_no_token_of_an_invitation_is_in_a_log(caplog: pytest.LogCaptureFixture, db: None) -> None:
    with caplog.at_level(logging.DEBUG):
        answer = APIClient(enforce_csrf_checks=True).post("/api/v1/invitations/drs-inv-of-somebody/accept", {})
    assert answer.status_code == 403
    assert any(record.name == REFUSALS_OF_NOBODY for record in caplog.records)
    assert "drs-inv-of-somebody" not in caplog.text
