"""Every operation of the OpenAPI document belongs to a noun, and a token needs its scope."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.common.scopes import Scope, covers
from dressage.teams.models import Team
from tests.platform.common.operations import OPERATIONS, call, documented_path, snapshot
from tests.platform.openapi import documented_paths
from tests.platform.tokens import bearer, token_of
from tests.support.about import PLATFORM

FOR_PEOPLE = {
    ("post", "/api/v1/tokens"): "a token makes none",
    ("patch", "/api/v1/tokens/{token_id}"): "a token gives none away",
    ("post", "/api/v1/service-accounts"): "an account makes none",
    ("patch", "/api/v1/service-accounts/{account_id}"): "an account does not raise itself",
    ("post", "/api/v1/teams/current/invitations"): "a person whom it invites would outlive it",
    ("post", "/api/v1/teams/current/invitations/{invitation_id}/resend"): "the same",
    ("patch", "/api/v1/teams/current/members/{member_id}"): "a person whom it promotes would outlive it",
    ("post", "/api/v1/datasets/{dataset_id}/shares"): "a team whom it lets in would outlive it",
    ("delete", "/api/v1/datasets/{dataset_id}/shares/{share_id}"): "a person answers for the other team's runs",
    ("post", "/api/v1/dataset-offers/{secret}/accept"): "a person answers for what the team takes",
}
"""Operations of a team that no token may use, and why."""
OF_ONESELF = {"session", "account", "invitations"}
"""Tags of operations that are about a person, not about a team."""


def documented() -> dict[tuple[str, str], list[dict[str, list[str]]]]:
    """The ways to sign in to each operation."""
    return {
        (method, path): operation["security"]
        for path, methods in documented_paths().items()
        for method, operation in methods.items()
    }


def scope_of(operation: Any) -> str | None:
    """The scope that the document names for a token; None for an operation for people."""
    ways = documented()[operation.method.lower(), documented_path(operation)]
    return next((way["apiToken"][0] for way in ways if "apiToken" in way), None)


def refuses(response: Any, scope: str | None) -> None:
    """The answer is a refusal that names the scope, or says that it is for people."""
    code, words = ("missing_scope", f"the scope {scope}.") if scope else ("people_only", "sign in to the console")
    assert (response.status_code, response.json()["error"]["code"]) == (403, code), response.content
    assert words in response.json()["detail"]


def test_every_operation_names_one_scope_or_is_for_people() -> None:
    people = set()
    for (method, path), ways in documented().items():
        scopes = [way["apiToken"] for way in ways if "apiToken" in way]
        assert len(scopes) <= 1 and all(len(scope) == 1 and scope[0] in Scope.values for scope in scopes), path
        assert {"session": []} in ways, path
        if method == "get" and scopes:
            assert scopes[0][0].endswith(":read"), path
        if not scopes and not OF_ONESELF.intersection(documented_paths()[path][method]["tags"]):
            people.add((method, path))
    assert people == set(FOR_PEOPLE)


def test_every_scope_is_good_for_something() -> None:
    used = {way["apiToken"][0] for ways in documented().values() for way in ways if "apiToken" in way}
    assert used == set(Scope.values)


@pytest.mark.expensive(3, "walks over all operations", about=PLATFORM)
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda o: f"{o.method} {o.path}")
def test_a_token_needs_the_scope(team: Team, ids: dict[str, str], operation: Any) -> None:
    check_scope(team, operation, lambda client: call(client, operation, ids), snapshot)


def check_scope(team: Team, operation: Any, ask: Callable[[APIClient], Any], snapshot: Callable[[], Any]) -> None:
    """Refused with all scopes but what it needs, nothing having changed; let in with that alone.

    An operation that shows data of another noun needs the scopes ``also`` besides.
    """
    needed = scope_of(operation)
    others = [scope for scope in Scope if needed is None or not covers([scope], Scope(needed))]
    _, secret = token_of(team, "admin", scopes=others)
    before = snapshot()
    refuses(ask(bearer(secret)), needed)
    assert snapshot() == before
    if needed is None:
        _, secret = token_of(team, "admin")
        before = snapshot()
        refuses(ask(bearer(secret)), None)
        assert snapshot() == before
        return
    also: tuple[Scope, ...] = getattr(operation, "also", ())
    for one in also:
        _, secret = token_of(team, "admin", scopes=[Scope(needed), *(other for other in also if other != one)])
        before = snapshot()
        refuses(ask(bearer(secret)), one)
        assert snapshot() == before
    _, secret = token_of(team, "admin", scopes=[Scope(needed), *also])
    assert ask(bearer(secret)).status_code == operation.status


def test_to_write_includes_to_read() -> None:
    assert covers(["runs:write"], Scope.RUNS_READ)
    assert not covers(["runs:read"], Scope.RUNS_WRITE)
    assert not covers(["datasets:write"], Scope.RUNS_READ)
    assert not covers([], Scope.RUNS_READ)
    assert covers(None, Scope.TEAM_WRITE)


def test_a_scope_gives_no_role(team: Team) -> None:
    _, secret = token_of(team, "viewer", scopes=[Scope.REWARDS_WRITE])
    response = bearer(secret).post("/api/v1/rewards", {}, format="json")
    assert (response.status_code, response.json()["error"]["code"]) == (403, "permission_denied")


@pytest.mark.parametrize("scopes", [[], ["runs"], ["runs:delete"], "runs:read", [1]])
def test_scopes_that_there_are_not(api: Callable[..., APIClient], scopes: Any) -> None:
    response = api("admin").post("/api/v1/tokens", {"name": "ci", "role": "viewer", "scopes": scopes}, format="json")
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"].startswith("/scopes")


def test_a_bench_job_shows_no_dataset_to_a_token_that_may_not_see_it(team: Team, ids: dict[str, str]) -> None:
    body = {"definitions": [{"ref": "sums@1"}], "samples": {"dataset": "sums@1", "rows": [0]}}
    _, secret = token_of(team, "admin", scopes=[Scope.REWARDS_WRITE, Scope.RUNS_WRITE])
    before = snapshot()
    refuses(bearer(secret).post("/api/v1/rewards/bench", body, format="json"), "datasets:read")
    assert snapshot() == before
    _, secret = token_of(team, "admin", scopes=[Scope.REWARDS_WRITE, Scope.DATASETS_READ])
    assert bearer(secret).post("/api/v1/rewards/bench", body, format="json").status_code == 202
