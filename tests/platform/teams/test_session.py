"""Signing in and out, CSRF, teams and passwords."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone
from rest_framework.test import APIClient

from dressage.teams.models import Invitation, Membership, Team, User

PASSWORD = "correct horse battery"
SESSION = "/api/v1/session"
NO_STEP = {"provider": None, "second_factor_due": False, "second_factor_missing": False}
NOBODY = {"authenticated": False, **NO_STEP, "user": None, "team": None, "role": None, "teams": []}


@pytest.fixture
def browser() -> APIClient:
    """Checks CSRF like a real one."""
    return APIClient(enforce_csrf_checks=True)


def csrf(client: APIClient) -> dict[str, str]:
    client.get(SESSION)
    return {"HTTP_X_CSRFTOKEN": client.cookies["csrftoken"].value}


def sign_in(client: APIClient, email: str, password: str = PASSWORD) -> object:
    return client.post(SESSION, {"email": email, "password": password}, format="json", **csrf(client))


def test_anonymous(browser: APIClient, db: None) -> None:
    response = browser.get(SESSION)
    assert (response.status_code, response.json()) == (200, NOBODY)
    assert response.cookies["csrftoken"].value


def test_sign_in_and_out(browser: APIClient, make_user: Callable[..., User], team: Team) -> None:
    user = make_user("operator")
    response = sign_in(browser, user.email.upper())
    stable = {"id": team.id, "name": "Stable", "slug": "stable"}
    expected = {
        "authenticated": True,
        **NO_STEP,
        "user": {
            "email": user.email,
            "name": "Operator",
            "password_is_temporary": False,
            "address_proven": True,
        },
        "team": stable,
        "role": "operator",
        "teams": [stable],
    }
    assert (response.status_code, response.json()) == (200, expected)
    assert browser.get(SESSION).json() == expected
    assert browser.delete(SESSION, **csrf(browser)).status_code == 204
    assert browser.get(SESSION).json() == NOBODY
    assert browser.get("/api/v1/teams/current").status_code == 401


def test_cookie_flags(browser: APIClient, make_user: Callable[..., User]) -> None:
    cookie = sign_in(browser, make_user().email).cookies["sessionid"]
    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")


def test_signing_in_changes_the_session_id(browser: APIClient, make_user: Callable[..., User]) -> None:
    user = make_user()
    sign_in(browser, user.email)
    first = browser.cookies["sessionid"].value
    sign_in(browser, user.email)
    assert browser.cookies["sessionid"].value
    browser.delete(SESSION, **csrf(browser))
    browser.cookies["sessionid"] = first
    assert browser.get(SESSION).json() == NOBODY


@pytest.mark.parametrize(
    ("email", "password"), [("member", "wrong"), ("nobody@example.com", PASSWORD), ("inactive", PASSWORD)]
)
def test_wrong_credentials_all_look_alike(
    browser: APIClient, make_user: Callable[..., User], email: str, password: str
) -> None:
    make_user(email="member@example.com")
    make_user(email="inactive@example.com")
    User.objects.filter(email="inactive@example.com").update(is_active=False)
    response = sign_in(browser, email if "@" in email else f"{email}@example.com", password)
    assert response.status_code == 401
    assert response.json()["error"]["code"] == "wrong_credentials"
    assert response.json()["detail"] == "E-mail address or password is wrong."
    assert Session.objects.count() == 0


def test_a_user_made_inactive_is_out_at_once(browser: APIClient, make_user: Callable[..., User]) -> None:
    user = make_user()
    sign_in(browser, user.email)
    User.objects.update(is_active=False)
    assert browser.get("/api/v1/teams/current").status_code == 401


@pytest.mark.parametrize("body", [{}, {"email": "x", "password": "y"}, [], "text", {"email": ["a"], "password": {}}])
def test_malformed_bodies(anonymous: APIClient, db: None, body: object) -> None:
    assert anonymous.post(SESSION, body, format="json").status_code == 422


def test_sign_in_needs_the_csrf_token(browser: APIClient, make_user: Callable[..., User]) -> None:
    user = make_user()
    browser.get(SESSION)
    for headers in ({}, {"HTTP_X_CSRFTOKEN": "x" * 32}):
        response = browser.post(SESSION, {"email": user.email, "password": PASSWORD}, format="json", **headers)
        assert (response.status_code, response.json()["error"]["code"]) == (403, "csrf_failed")
    assert Session.objects.count() == 0


def test_session_writes_need_the_csrf_token(browser: APIClient, make_user: Callable[..., User]) -> None:
    user = make_user("admin")
    sign_in(browser, user.email)
    body, path = {"email": "new@example.com", "role": "viewer"}, "/api/v1/teams/current/invitations"
    response = browser.post(path, body, format="json")
    assert (response.status_code, response.json()["error"]["code"]) == (403, "csrf_failed")
    assert Invitation.objects.count() == 0
    assert browser.delete(SESSION).status_code == 403
    assert browser.post(path, body, format="json", **csrf(browser)).status_code == 201


def test_expired_session(browser: APIClient, make_user: Callable[..., User]) -> None:
    sign_in(browser, make_user().email)
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    assert browser.get(SESSION).json() == NOBODY
    assert browser.get("/api/v1/teams/current").status_code == 401


def test_honest_use_is_not_throttled(browser: APIClient, make_user: Callable[..., User]) -> None:
    user = make_user()
    assert [sign_in(browser, user.email).status_code for _ in range(15)] == [200] * 15


def test_choosing_a_team(api: Callable[..., APIClient], other_team: Team, team: Team) -> None:
    client = api("viewer")
    Membership.objects.create(team=other_team, user=client.user, role="admin")
    assert [entry["slug"] for entry in client.get(SESSION).json()["teams"]] == ["rivals", "stable"]
    assert client.get("/api/v1/tokens").status_code == 403
    chosen = client.post("/api/v1/session/team", {"team": other_team.id}, format="json")
    assert (chosen.status_code, chosen.json()["team"]["slug"], chosen.json()["role"]) == (200, "rivals", "admin")
    assert client.get("/api/v1/teams/current").json()["slug"] == "rivals"
    assert client.get("/api/v1/tokens").status_code == 200
    Membership.objects.filter(team=other_team).delete()
    assert client.get("/api/v1/teams/current").json()["slug"] == "stable"


def test_choosing_a_strange_team(api: Callable[..., APIClient], other_team: Team) -> None:
    client = api("viewer")
    for name in (other_team.id, "team_nothing"):
        assert client.post("/api/v1/session/team", {"team": name}, format="json").status_code == 404
    assert client.get(SESSION).json()["team"]["slug"] == "stable"


def test_a_user_without_a_team(browser: APIClient, db: None) -> None:
    User.objects.create_user("lone@example.com", PASSWORD)
    assert sign_in(browser, "lone@example.com").json()["team"] is None
    assert browser.get("/api/v1/datasets").status_code == 403


def test_changing_the_password(browser: APIClient, make_user: Callable[..., User]) -> None:
    user, elsewhere = make_user(), APIClient()
    User.objects.update(password_is_temporary=True)
    sign_in(browser, user.email)
    sign_in(elsewhere, user.email)
    body = {"current": PASSWORD, "new": "another long secret"}
    assert browser.post("/api/v1/session/password", body, format="json", **csrf(browser)).status_code == 204
    assert browser.get(SESSION).json()["user"]["password_is_temporary"] is False
    assert elsewhere.get(SESSION).json() == NOBODY
    assert sign_in(elsewhere, user.email).status_code == 401
    assert sign_in(elsewhere, user.email, "another long secret").status_code == 200


@pytest.mark.parametrize(
    ("current", "new", "pointer"),
    [
        ("wrong", "another long secret", "/current"),
        (PASSWORD, "short", "/new"),
        (PASSWORD, "password123", "/new"),
        (PASSWORD, PASSWORD, "/new"),
    ],
)
def test_refused_passwords(api: Callable[..., APIClient], current: str, new: str, pointer: str) -> None:
    client = api("viewer")
    response = client.post("/api/v1/session/password", {"current": current, "new": new}, format="json")
    assert response.status_code == 422
    assert {error["pointer"] for error in response.json()["errors"]} == {pointer}
    assert User.objects.get(pk=client.user.pk).check_password(PASSWORD)


def test_passwords_are_argon2(settings: object, db: None) -> None:
    from dressage import settings as product

    settings.PASSWORD_HASHERS = product.PASSWORD_HASHERS  # type: ignore[attr-defined]
    assert User.objects.create_user("a@example.com", PASSWORD).password.startswith("argon2$argon2id$")
