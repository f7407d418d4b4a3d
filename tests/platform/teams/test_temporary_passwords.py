"""A password that someone else has seen opens nothing but the choice of another."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.teams.models import Team, User
from tests.platform.conftest import PASSWORD
from tests.platform.openapi import DOCUMENT
from tests.support.about import PLATFORM

SESSION, CHOICE = "/api/v1/session", "/api/v1/session/password"
WAYS_IN = {SESSION, CHOICE} | {f"{SESSION}/{way}" for way in ("oidc", "passkey", "passkey/options")}
"""Open to everybody, whoever is signed in: they sign in, and the session shows no team."""
WORKERS = "/api/v1/link/"
"""What workers call with secrets of their own: no session is read there."""
OPERATIONS = [
    (method, path)
    for path, methods in json.loads(DOCUMENT.read_text())["paths"].items()
    for method in methods
    if not path.startswith(WORKERS)
]


@pytest.fixture
def newcomer(api: Callable[..., APIClient]) -> APIClient:
    """An admin whose password was printed."""
    client = api("admin")
    User.objects.filter(pk=client.user.pk).update(password_is_temporary=True)
    return client


@pytest.mark.expensive(2, "walks over many requests", about=PLATFORM)
def test_every_operation_refuses_it(newcomer: APIClient) -> None:
    answers = {}
    for method, path in OPERATIONS:
        if path in WAYS_IN:
            continue
        address = path.replace("{number}", "1").replace("{index}", "0").replace("{", "").replace("}", "")
        response = getattr(newcomer, method)(address, {}, format="json")
        answers[method, path] = (response.status_code, response.json()["error"]["code"])
    assert len(answers) > 60
    assert set(answers.values()) == {(403, "temporary_password")}, answers


def test_the_refusal_says_what_to_do(newcomer: APIClient) -> None:
    assert "Choose a new one (POST /api/v1/session/password)" in newcomer.get("/api/v1/runs").json()["detail"]


def test_it_shows_no_team(newcomer: APIClient, team: Team) -> None:
    session: dict[str, Any] = newcomer.get(SESSION).json()
    assert session.pop("user")["password_is_temporary"] is True
    no_step = {"provider": None, "second_factor_due": False, "second_factor_missing": False}
    assert session == {"authenticated": True, **no_step, "team": None, "role": None, "teams": []}


def test_after_the_choice_everything_opens(newcomer: APIClient) -> None:
    body = {"current": PASSWORD, "new": "my own long secret"}
    assert newcomer.post(CHOICE, body, format="json").status_code == 204
    assert newcomer.get("/api/v1/audit").status_code == 200
    assert newcomer.get(SESSION).json()["role"] == "admin"


def test_whoever_has_one_may_leave(newcomer: APIClient) -> None:
    assert newcomer.delete(SESSION).status_code == 204
