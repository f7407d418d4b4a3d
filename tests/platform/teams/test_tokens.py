"""API tokens: hashed, shown once, bound to a team and a role, ended by time or revocation.

``test_token_owners.py`` has what becomes of them when their owners change.
"""

import hashlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from dressage.teams.models import ApiToken, AuditEntry, Invitation, Membership, User
from tests.platform.conftest import PASSWORD
from tests.platform.tokens import bearer

TOKENS, INVITATIONS = "/api/v1/tokens", "/api/v1/teams/current/invitations"


@pytest.fixture
def admin(api: Callable[..., APIClient]) -> APIClient:
    return api("admin")


def make(admin: APIClient, **fields: object) -> dict:
    response = admin.post(TOKENS, {"name": "ci", "role": "editor", **fields}, format="json")
    assert response.status_code == 201
    return response.json()


def test_only_the_hash_is_stored(admin: APIClient) -> None:
    secret = make(admin)["secret"]
    assert secret.startswith("drs_")
    assert len(secret) == 4 + 43  # 256 bits
    row = ApiToken.objects.values().get()
    assert row["sha256"] == hashlib.sha256(secret.encode()).hexdigest()
    assert secret not in str(list(row.values()))
    assert secret not in str(list(AuditEntry.objects.values()))


def test_the_secret_is_shown_once(admin: APIClient) -> None:
    made = make(admin)
    listed = admin.get(TOKENS).json()["data"]
    assert listed == [{key: value for key, value in made.items() if key != "secret"}]
    assert made["secret"].startswith(made["prefix"])


def test_it_acts_with_its_own_role_and_needs_no_csrf(admin: APIClient) -> None:
    client = bearer(make(admin, role="editor")["secret"])
    assert client.get("/api/v1/teams/current").json()["slug"] == "stable"
    assert client.get(TOKENS).status_code == 403
    definition = {"components": [{"name": "a", "grader": {"type": "exact"}}]}
    made = client.post("/api/v1/rewards", {"name": "Sums", "definition": definition}, format="json")
    assert (made.status_code, made.json()["created_by"]) == (201, "token:ci")
    entry = AuditEntry.objects.get(action="reward.create")
    assert (entry.actor_kind, entry.actor_name) == ("token", "ci")


def test_last_use_is_noted(admin: APIClient) -> None:
    client = bearer(make(admin)["secret"])
    assert ApiToken.objects.get().last_used_at is None
    before = timezone.now()
    client.get("/api/v1/teams/current")
    assert before <= ApiToken.objects.get().last_used_at <= timezone.now()
    assert admin.get(TOKENS).json()["data"][0]["last_used_address"] == "127.0.0.1"


def test_expiry(admin: APIClient) -> None:
    made = make(admin, expires_at=(timezone.now() + timedelta(hours=1)).isoformat())
    client = bearer(made["secret"])
    assert client.get("/api/v1/teams/current").status_code == 200
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    response = client.get("/api/v1/teams/current")
    assert (response.status_code, response.json()["error"]["code"]) == (401, "invalid_token")
    assert response["WWW-Authenticate"] == 'Bearer realm="api"'


def test_expiry_in_the_past(admin: APIClient) -> None:
    past = (timezone.now() - timedelta(seconds=1)).isoformat()
    response = admin.post(TOKENS, {"name": "ci", "role": "viewer", "expires_at": past}, format="json")
    assert (response.status_code, response.json()["errors"][0]["pointer"]) == (422, "/expires_at")
    assert ApiToken.objects.count() == 0


@pytest.mark.parametrize("given", [{}, {"expires_at": None}])
def test_every_token_ends(admin: APIClient, settings: Any, given: dict[str, None]) -> None:
    settings.TOKEN_DAYS = 7
    made = make(admin, **given)
    left = ApiToken.objects.get().expires_at - timezone.now()
    assert timedelta(days=7) - timedelta(minutes=1) < left <= timedelta(days=7)
    assert made["expires_at"] is not None


def test_no_token_outlives_the_maximum(admin: APIClient, settings: Any) -> None:
    settings.TOKEN_DAYS_MAX = 30
    late = (timezone.now() + timedelta(days=31)).isoformat()
    response = admin.post(TOKENS, {"name": "ci", "role": "viewer", "expires_at": late}, format="json")
    assert (response.status_code, response.json()["errors"]) == (
        422,
        [{"pointer": "/expires_at", "detail": "A token expires after at most 30 days."}],
    )
    assert ApiToken.objects.count() == 0
    make(admin)  # the default is shorter then, too
    assert ApiToken.objects.get().expires_at < timezone.now() + timedelta(days=30, minutes=1)
    options = admin.get(f"{TOKENS}/options").json()
    assert (options["default_days"], options["max_days"]) == (30, 30)


def test_a_token_makes_no_token(admin: APIClient) -> None:
    """However much it may, and for however short a time: neither one of its owner's nor one of a service account."""
    made = make(admin, role="admin")
    program = bearer(made["secret"])
    account = admin.post("/api/v1/service-accounts", {"name": "ci", "role": "viewer"}, format="json").json()
    entries = AuditEntry.objects.count()
    for answer in (
        program.post(TOKENS, {"name": "more", "role": "viewer"}, format="json"),
        program.post(TOKENS, {"name": "more", "role": "viewer", "service_account": account["id"]}, format="json"),
        program.post("/api/v1/service-accounts", {"name": "more", "role": "admin"}, format="json"),
        program.patch(f"/api/v1/service-accounts/{account['id']}", {"role": "admin"}, format="json"),
        program.patch(f"{TOKENS}/{made['id']}", {"service_account": account["id"]}, format="json"),
    ):
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "people_only")
    assert (ApiToken.objects.count(), AuditEntry.objects.count()) == (1, entries)


def test_a_token_makes_no_person_powerful(admin: APIClient) -> None:
    """A person whom it invited or promoted would have every scope, and outlive it. It may still remove members."""
    program = bearer(make(admin, role="admin", scopes=["team:write"])["secret"])
    body = {"email": "x@example.com", "role": "admin"}
    invited = admin.post(INVITATIONS, body, format="json").json()
    user = User.objects.create_user("y@example.com", PASSWORD)
    member = Membership.objects.create(team=admin.user.memberships.get().team, user=user, role="viewer")
    path = f"/api/v1/teams/current/members/{member.id}"
    models: list[Any] = [Invitation, Membership, AuditEntry]
    before = [list(model.objects.values()) for model in models]
    for answer in (
        program.post(INVITATIONS, {**body, "email": "z@example.com"}, format="json"),
        program.post(f"{INVITATIONS}/{invited['id']}/resend", format="json"),
        program.patch(path, {"role": "admin"}, format="json"),
    ):
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "people_only")
    assert [list(model.objects.values()) for model in models] == before
    assert program.delete(path).status_code == 204


def test_making_and_revoking_are_audited_with_what_it_may(admin: APIClient) -> None:
    made = make(admin, scopes=["runs:read", "datasets:write", "runs:read"])
    admin.delete(f"{TOKENS}/{made['id']}")
    facts = {
        "name": "ci",
        "role": "editor",
        "scopes": ["datasets:write", "runs:read"],
        "owner": admin.user.email,
        "expires_at": ApiToken.objects.get().expires_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }
    created, revoked = AuditEntry.objects.filter(action__startswith="token.").order_by("number")
    assert (created.action, created.after, revoked.action, revoked.before) == (
        "token.create",
        facts,
        "token.revoke",
        facts,
    )


def test_revocation_acts_at_once_and_only_once(admin: APIClient) -> None:
    made = make(admin)
    client = bearer(made["secret"])
    assert [admin.delete(f"{TOKENS}/{made['id']}").status_code for _ in range(2)] == [204, 204]
    assert client.get("/api/v1/teams/current").status_code == 401
    assert admin.get(TOKENS).json()["data"] == []
    assert AuditEntry.objects.filter(action="token.revoke").count() == 1


@pytest.mark.parametrize("value", ["drs_", "drs_" + "x" * 43, "drs_ü"])
def test_unknown_secrets(db: None, value: str) -> None:
    assert bearer(value).get("/api/v1/teams/current").status_code == 401


@pytest.mark.parametrize("value", ["Bearer", "Basic abc", "Bearer other_kind", ""])
def test_other_schemes_are_no_one(db: None, value: str) -> None:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=value)
    assert client.get("/api/v1/teams/current").status_code == 401


def test_a_token_is_not_a_person(admin: APIClient) -> None:
    client = bearer(make(admin, role="admin")["secret"])
    body = {"current": "a", "new": "b"}
    assert client.post("/api/v1/session/password", body, format="json").status_code == 403
    assert client.delete("/api/v1/session").status_code == 403
    assert client.get("/api/v1/session").json()["authenticated"] is False


@pytest.mark.parametrize("given", ["2999-01-01T00:00:00", "2999-01-01", "2999-01-01 00:00", "soon", 32503680000])
def test_an_end_without_its_offset_is_refused(api: Callable[..., APIClient], given: object) -> None:
    """As the audit refuses it in a query: nobody knows which hour is meant."""
    response = api("admin").post(TOKENS, {"name": "ci", "role": "viewer", "expires_at": given}, format="json")
    assert response.status_code == 422
    assert response.json()["errors"] == [
        {"pointer": "/expires_at", "detail": "Give a time with its offset, such as 2026-11-22T12:00:00Z."}
    ]


def test_a_name_is_text(admin: APIClient) -> None:
    for name in (7, 5319658644320569.0, True, ["ci"]):
        response = admin.post("/api/v1/tokens", {"name": name, "role": "admin"}, format="json")
        assert response.status_code == 422, name
        assert [error["pointer"] for error in response.json()["errors"]] == ["/name"]
