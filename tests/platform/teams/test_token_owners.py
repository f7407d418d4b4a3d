"""Tokens belong to a person or a service account, never do more than their owner, and end with it."""

from collections.abc import Callable
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db import IntegrityError, transaction
from django.utils import timezone
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.common.roles import Role
from dressage.teams.models import ApiToken, AuditEntry, Membership, ServiceAccount, Team, User
from dressage.teams.services import record_audit
from tests.platform.tokens import bearer

TOKENS, ACCOUNTS, TEAM, MEMBERS = (
    "/api/v1/tokens",
    "/api/v1/service-accounts",
    "/api/v1/teams/current",
    "/api/v1/teams/current/members",
)


@pytest.fixture
def admin(api: Callable[..., APIClient]) -> APIClient:
    return api("admin")


def make(admin: APIClient, **fields: object) -> dict[str, Any]:
    response = admin.post(TOKENS, {"name": "ci", "role": "admin", **fields}, format="json")
    assert response.status_code == 201, response.content
    document: dict[str, Any] = response.json()
    return document


def account(admin: APIClient, role: str = "editor", name: str = "nightly") -> str:
    response = admin.post(ACCOUNTS, {"name": name, "role": role}, format="json")
    assert response.status_code == 201, response.content
    identifier: str = response.json()["id"]
    return identifier


def refusal(program: APIClient) -> str:
    response = program.get(TEAM)
    assert (response.status_code, response.json()["error"]["code"]) == (401, "invalid_token")
    detail: str = response.json()["detail"]
    return detail


def listed(admin: APIClient) -> dict[str, Any]:
    [token] = admin.get(TOKENS).json()["data"]
    found: dict[str, Any] = token
    return found


def test_it_ends_when_its_maker_leaves_and_stays_ended(admin: APIClient, api: Callable[..., APIClient]) -> None:
    program, other = bearer(make(admin)["secret"]), api("admin")
    assert program.get(TEAM).status_code == 200
    membership = Membership.objects.get(user=admin.user)
    assert other.delete(f"{MEMBERS}/{membership.id}").status_code == 204
    assert refusal(program) == "The API token has ended: its owner has left the team."
    assert (listed(other)["state"], listed(other)["effective_role"]) == ("owner_left", None)
    Membership.objects.create(team=membership.team, user=admin.user, role=Role.ADMIN)
    assert "has left the team" in refusal(program)


def test_it_does_not_act_while_its_makers_account_is_inactive(admin: APIClient, api: Callable[..., APIClient]) -> None:
    program, other = bearer(make(admin)["secret"]), api("admin")
    User.objects.filter(pk=admin.user.pk).update(is_active=False)
    assert refusal(program) == "The API token has ended: its owner's account is inactive."
    assert listed(other)["state"] == "owner_inactive"


@pytest.mark.parametrize(("role", "acts_as"), [("viewer", "viewer"), ("operator", "operator"), ("admin", "admin")])
def test_it_never_does_more_than_its_maker_does_now(
    admin: APIClient, api: Callable[..., APIClient], role: str, acts_as: str
) -> None:
    program, other = bearer(make(admin, role="admin")["secret"]), api("admin")
    assert program.get(TOKENS).status_code == 200
    membership = Membership.objects.get(user=admin.user)
    assert other.patch(f"{MEMBERS}/{membership.id}", {"role": role}, format="json").status_code == 200
    assert (listed(other)["role"], listed(other)["effective_role"]) == ("admin", acts_as)
    assert program.get(TOKENS).status_code == (200 if role == "admin" else 403)
    answer = program.post("/api/v1/datasets", {}, format="multipart")
    assert answer.status_code == (403 if role == "viewer" else 422)


def test_a_small_token_of_a_great_owner_stays_small(admin: APIClient) -> None:
    made = make(admin, role="viewer")
    assert made["effective_role"] == "viewer"
    assert bearer(made["secret"]).get(TOKENS).status_code == 403


def test_a_token_of_a_service_account_outlives_its_maker(admin: APIClient, api: Callable[..., APIClient]) -> None:
    made, other = make(admin, role="editor", service_account=account(admin)), api("admin")
    assert made["owner"] == {"kind": "service_account", "id": ServiceAccount.objects.get().id, "name": "nightly"}
    other.delete(f"{MEMBERS}/{Membership.objects.get(user=admin.user).id}")
    assert bearer(made["secret"]).get(TEAM).status_code == 200
    assert listed(other)["state"] == "active"


def test_a_service_account_rules_its_tokens(admin: APIClient) -> None:
    identifier = account(admin)
    program = bearer(make(admin, role="editor", service_account=identifier)["secret"])
    path = f"{ACCOUNTS}/{identifier}"
    assert admin.patch(path, {"role": "viewer"}, format="json").json()["role"] == "viewer"
    assert program.post("/api/v1/datasets", {}, format="multipart").status_code == 403
    disabled = admin.patch(path, {"disabled": True}, format="json").json()
    assert (disabled["disabled_at"] is not None, disabled["live_tokens"]) == (True, 1)
    assert refusal(program) == "The API token has ended: its service account is disabled."
    assert listed(admin)["state"] == "account_disabled"
    again = admin.patch(path, {"disabled": True}, format="json").json()
    assert again["disabled_at"] == disabled["disabled_at"]
    assert admin.patch(path, {"disabled": False}, format="json").json()["disabled_at"] is None
    assert program.get(TEAM).status_code == 200
    entries = AuditEntry.objects.filter(action="service_account.update").order_by("number")
    assert [entry.after for entry in entries] == [
        {"name": "nightly", "role": "viewer", "disabled": False},
        {"name": "nightly", "role": "viewer", "disabled": True},
        {"name": "nightly", "role": "viewer", "disabled": False},
    ]


def test_what_a_service_account_cannot_have(admin: APIClient, other_team: Team) -> None:
    identifier = account(admin)
    foreign = ServiceAccount.objects.create(team=other_team, name="x", role="admin", created_by="x")
    off = ServiceAccount.objects.create(
        team=admin.user.memberships.get().team, name="off", role="admin", disabled_at=timezone.now()
    )
    for body, pointer in (
        ({"role": "admin", "service_account": identifier}, "/role"),
        ({"role": "viewer", "service_account": foreign.id}, "/service_account"),
        ({"role": "viewer", "service_account": off.id}, "/service_account"),
        ({"role": "viewer", "service_account": "nothing"}, "/service_account"),
    ):
        response = admin.post(TOKENS, {"name": "ci", **body}, format="json")
        assert (response.status_code, response.json()["errors"][0]["pointer"]) == (422, pointer)
    taken = admin.post(ACCOUNTS, {"name": "nightly", "role": "viewer"}, format="json")
    renamed = admin.patch(f"{ACCOUNTS}/{off.id}", {"name": "nightly"}, format="json")
    assert [(a.status_code, a.json()["error"]["code"]) for a in (taken, renamed)] == [(409, "name_taken")] * 2
    assert (ApiToken.objects.count(), ServiceAccount.objects.count()) == (0, 3)


def old_token(team: Team, created_by: str, role: str = "admin", **fields: Any) -> ApiToken:
    """A token as the code of before has made it."""
    number = ApiToken.objects.count()
    return ApiToken.objects.create(
        team=team, name=f"old {number}", prefix="drs_", sha256=f"{number}", role=role, created_by=created_by, **fields
    )


def migrate() -> None:
    """What the migration does with rows of before."""
    [path] = Path(*import_module("dressage.teams.migrations").__path__).glob("*_owners_of_former_tokens.py")
    migration = import_module(f"dressage.teams.migrations.{path.stem}")
    migration.give_owners(apps, None)
    migration.give_ends(apps, None)


def test_tokens_of_before_belong_to_their_makers_where_that_changes_nothing(
    team: Team, make_user: Callable[..., User], settings: Any
) -> None:
    ada, eve = make_user("admin", email="ada@example.com"), make_user("editor", email="eve@example.com")
    gone = User.objects.create_user("gone@example.com", "x")
    off = make_user("admin", email="off@example.com")
    User.objects.filter(pk=off.pk).update(is_active=False)
    by_address = old_token(team, "ada@example.com")
    audited = old_token(team, "renamed@example.com", "viewer")
    actor = Actor("user", eve.id, "renamed@example.com")
    record_audit(team, actor, "token.create", "token", audited.id)
    beyond = old_token(team, "eve@example.com", "admin")
    others = [
        beyond,
        *(old_token(team, by) for by in ("gone@example.com", "off@example.com", "token:ci", "system:demo")),
    ]
    Membership.objects.filter(user=ada).update(created_at=timezone.now() - timedelta(days=1))
    came_back = old_token(team, "eve@example.com", "viewer", created_at=timezone.now() - timedelta(days=2))
    dated = old_token(team, "ada@example.com", expires_at=timezone.now() + timedelta(days=3))
    migrate()
    owners = dict(ApiToken.objects.values_list("id", "user_id"))
    assert owners == {
        by_address.id: ada.id,
        audited.id: eve.id,
        dated.id: ada.id,
        came_back.id: None,
        **{token.id: None for token in others},
    }
    assert not gone.memberships.exists()
    assert not ApiToken.objects.filter(expires_at=None).exists()
    ends = ApiToken.objects.get(pk=by_address.pk).expires_at
    assert abs(ends - timezone.now() - timedelta(days=settings.TOKEN_DAYS_MAX)) < timedelta(minutes=1)
    assert ApiToken.objects.get(pk=dated.pk).expires_at == dated.expires_at


def test_a_token_that_is_nobodys_acts_until_an_admin_gives_it_an_owner(admin: APIClient) -> None:
    made = make(admin, role="admin")
    ApiToken.objects.update(user=None)
    program = bearer(made["secret"])
    assert program.get(TOKENS).status_code == 200
    assert listed(admin)["owner"] == {"kind": "nobody", "id": None, "name": None}
    body = {"service_account": account(admin, "viewer")}
    given = admin.patch(f"{TOKENS}/{made['id']}", body, format="json")
    assert (given.status_code, given.json()["owner"]["name"], given.json()["effective_role"]) == (
        200,
        "nightly",
        "viewer",
    )
    assert program.get(TOKENS).status_code == 403
    entry = AuditEntry.objects.get(action="token.hand_over")
    assert (entry.before["owner"], entry.after["owner"]) == (None, "nightly")
    again = admin.patch(f"{TOKENS}/{made['id']}", body, format="json")
    assert (again.status_code, again.json()["error"]["code"]) == (409, "token_has_owner")
    assert AuditEntry.objects.filter(action="token.hand_over").count() == 1


def test_nobody_takes_a_persons_token_from_them(admin: APIClient) -> None:
    made = make(admin)
    answer = admin.patch(f"{TOKENS}/{made['id']}", {"service_account": account(admin)}, format="json")
    assert (answer.status_code, ApiToken.objects.get().user_id) == (409, admin.user.id)


def test_a_token_has_one_owner_at_most(admin: APIClient) -> None:
    make(admin)
    account(admin)
    with pytest.raises(IntegrityError, match="token_has_one_owner_at_most"), transaction.atomic():
        ApiToken.objects.update(service_account=ServiceAccount.objects.get())
