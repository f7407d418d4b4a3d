"""Every endpoint against every role, against strangers, and against another team's ids."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.common.roles import Role
from dressage.datasets.models import DatasetVersion
from dressage.policies.models import Policy
from dressage.rewards.models import RewardVersion
from dressage.teams.models import ApiToken, Team
from tests.platform.common.operations import BY_NAME, OPERATIONS, Operation, call, documented_path, snapshot
from tests.platform.openapi import check_declared
from tests.platform.tokens import token_of
from tests.support.about import PLATFORM


def read(response: Any) -> bytes:
    """The body, also of an answer that is streamed."""
    return b"".join(response.streaming_content) if response.streaming else response.content


@pytest.mark.expensive(3, "walks over all operations", about=PLATFORM)
@BY_NAME
def test_roles(api: Callable[..., APIClient], ids: dict[str, str], operation: Operation) -> None:
    for role in Role:  # from the least: a refusal changes nothing, so the next role meets the same state
        client = api(role)
        before = snapshot()
        response = call(client, operation, ids)
        check_declared(documented_path(operation), operation.method, response)
        if role.covers(Role(operation.role)):
            assert response.status_code == operation.status, role
            if operation.method == "GET":
                continue
            return  # what it has written is there
        assert (response.status_code, response.json()["error"]["code"]) == (403, "permission_denied")
        assert f"needs the role {operation.role}" in response.json()["detail"]
        assert snapshot() == before


def test_strangers(anonymous: APIClient, ids: dict[str, str]) -> None:
    before = snapshot()
    for operation in OPERATIONS:  # one test: none of them may change anything
        response = call(anonymous, operation, ids)
        assert (response.status_code, response.json()["error"]["code"]) == (401, "not_authenticated"), operation
        assert snapshot() == before, operation


@pytest.mark.expensive(3, "walks over all operations", about=PLATFORM)
def test_other_teams_see_nothing(api: Callable[..., APIClient], ids: dict[str, str], other_team: Team) -> None:
    client = api("admin", team=other_team)
    for operation in OPERATIONS:  # one test: none of them may change anything of the team that owns the ids
        if "{" in operation.path:
            before = snapshot()
            for wanted in (ids, dict.fromkeys(ids, "nothing")):
                response = call(client, operation, wanted)
                assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found"), operation
            assert snapshot() == before, operation
        elif operation.method == "GET" and operation.path not in ("rewards/schema", "audit/verification"):
            text = read(call(client, operation, ids)).decode()
            assert not [value for value in ids.values() if value in text], operation


def test_refs_are_of_the_team(api: Callable[..., APIClient], ids: dict[str, str], other_team: Team, team: Team) -> None:
    from dressage.datasets.selectors import version_by_ref as dataset_version
    from dressage.policies.selectors import policy_by_name
    from dressage.rewards.selectors import version_by_ref as reward_version

    assert dataset_version(team, "sums@1") == DatasetVersion.objects.get()
    assert reward_version(team, "sums@1") == RewardVersion.objects.get(reward__slug="sums")
    assert policy_by_name(team, "p") == Policy.objects.get()
    for read, ref in ((dataset_version, "sums@1"), (reward_version, "sums@1"), (policy_by_name, "p")):
        with pytest.raises(LookupError):
            read(other_team, ref)
    for bad in ("sums", "sums@2", "sums@0", "sums@x", "@1", "sums@1@1", "a\0@1", "sums@" + "9" * 40):
        for read in (dataset_version, reward_version, policy_by_name):
            with pytest.raises(LookupError):
                read(team, bad)
    body = {"ref": "sums@1", "samples": [{"output_text": "x", "item": {"answer": "x"}}]}
    assert api("editor").post("/api/v1/rewards/try", body, format="json").status_code == 200
    response = api("editor", team=other_team).post("/api/v1/rewards/try", body, format="json")
    assert (response.status_code, response.json()["error"]["code"]) == (422, "unknown_reward")


def test_a_token_acts_in_its_own_team_only(
    ids: dict[str, str], other_team: Team, actor: Actor, anonymous: APIClient
) -> None:
    _, secret = token_of(other_team, Role.ADMIN)
    anonymous.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    assert anonymous.get(f"/api/v1/datasets/{ids['dataset']}").status_code == 404
    assert anonymous.delete(f"/api/v1/tokens/{ids['token']}").status_code == 404
    assert ApiToken.objects.get(id=ids["token"]).revoked_at is None
