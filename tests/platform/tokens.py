"""API tokens for tests."""

from typing import Any

from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.common.roles import Role
from dressage.teams.models import ApiToken, ServiceAccount, Team
from dressage.teams.tokens import create_token


def token_of(team: Team, role: Role | str = Role.VIEWER, **fields: Any) -> tuple[ApiToken, str]:
    """A token of a service account of the team, and its secret."""
    role = Role(role)
    account, _ = ServiceAccount.objects.get_or_create(
        team=team, name=f"programs of role {role}", defaults={"role": role}
    )
    fields = {"name": "ci", "role": role, "owner": account, **fields}
    return create_token(team, Actor("user", "usr_test", "test@example.com"), **fields)


def bearer(secret: str) -> APIClient:
    """A program with a token."""
    client = APIClient(enforce_csrf_checks=True)
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    return client
