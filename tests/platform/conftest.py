"""People, teams and clients for the platform's tests."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.cache import cache
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.common.roles import Role
from dressage.teams.models import Membership, Team, User
from tests.platform.openapi import check_answer

PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True)
def quick_passwords(settings: object) -> None:
    """Argon2 is slow on purpose; one test of its own shows that it is what we use."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def empty_cache() -> Iterator[None]:
    """Throttles begin from nothing in each test."""
    cache.clear()
    yield


@pytest.fixture(autouse=True)
def answers_are_as_documented(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every answer that a test gets is compared with the OpenAPI document."""
    request = APIClient.request

    def checked(client: APIClient, **options: Any) -> Any:
        response = request(client, **options)
        check_answer(response)
        return response

    monkeypatch.setattr(APIClient, "request", checked)


@pytest.fixture
def team(db: None) -> Team:
    return Team.objects.create(name="Stable", slug="stable")


@pytest.fixture
def other_team(db: None) -> Team:
    """A team that the clients of ``api`` do not belong to."""
    return Team.objects.create(name="Rivals", slug="rivals")


@pytest.fixture
def actor() -> Actor:
    return Actor("user", "usr_test", "test@example.com")


@pytest.fixture
def make_user(team: Team) -> Callable[..., User]:
    """``make_user(role, team=…)``: a member with the password ``PASSWORD``."""

    def make(role: str = "viewer", *, team: Team = team, email: str | None = None) -> User:
        user = User.objects.filter(email=email).first() if email else None
        user = user or User.objects.create_user(
            email or f"{role}-{User.objects.count()}@example.com", PASSWORD, name=role.title(), address_proven=True
        )
        Membership.objects.create(team=team, user=user, role=Role(role))
        return user

    return make


@pytest.fixture
def api(make_user: Callable[..., User], team: Team) -> Callable[..., APIClient]:
    """``api(role, team=…)``: a signed-in client, without CSRF checks."""

    def client(role: str = "viewer", *, team: Team = team) -> APIClient:
        browser = APIClient()
        browser.user = make_user(role, team=team)
        browser.force_login(browser.user)
        return browser

    return client


@pytest.fixture
def anonymous() -> APIClient:
    return APIClient()
