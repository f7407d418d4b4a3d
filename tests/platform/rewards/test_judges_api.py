"""Judge endpoints: their keys stay secret, definitions may only name those that are there."""

from collections.abc import Callable
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.db import connection
from rest_framework.test import APIClient

from dressage.policies.models import Policy
from dressage.rewards.judges.secrets import UnsealError, seal, unseal
from dressage.rewards.judges.selectors import for_workers
from dressage.rewards.models import JudgeEndpoint, RewardVersion
from dressage.rewards.needs import missing, named_endpoints, named_reward_models
from dressage.teams.models import AuditEntry, Team
from trainer_core.rewards import RewardDefinition

KEY = "sk-very-secret-0123456789"
JUDGE = {"name": "Strict", "base_url": "https://judge.example/v1/", "model": "large", "api_key": KEY}
ITEMS = [{"name": "clear", "description": "Is clear."}]


def register(team: Team) -> None:
    """The policy ``small``."""
    Policy.objects.create(
        team=team, slug="small", name="Small", path="/policies/small", architecture="A", parameters=1, vocab_size=1,
        max_position_embeddings=96, bytes=1, sha256="0", created_by="x",
    )  # fmt: skip


@pytest.fixture
def admin(api: Callable[..., APIClient]) -> APIClient:
    return api("admin")


def create(client: APIClient, **fields: Any) -> Any:
    return client.post("/api/v1/judge-endpoints", {**JUDGE, **fields}, format="json")


def rubric(endpoint: str) -> dict[str, Any]:
    return {"components": [{"name": "quality", "grader": {"type": "rubric", "endpoint": endpoint, "items": ITEMS}}]}


def test_a_key_is_never_seen_again(admin: APIClient) -> None:
    made = create(admin)
    assert made.status_code == 201
    document = made.json()
    assert (document["slug"], document["base_url"], document["has_key"]) == ("strict", "https://judge.example/v1", True)
    path = f"/api/v1/judge-endpoints/{document['id']}"
    changed = admin.patch(path, {"api_key": KEY + "2", "max_in_flight": 256}, format="json")
    assert (changed.status_code, changed.json()["max_in_flight"]) == (200, 256)
    listed = admin.get("/api/v1/judge-endpoints")
    audit = admin.get("/api/v1/audit")
    for response in (made, changed, listed, audit):
        assert KEY not in response.content.decode()
        assert "api_key" not in response.content.decode()
    with connection.cursor() as cursor:
        cursor.execute("SELECT string_agg(row_to_json(j)::text, '') FROM rewards_judgeendpoint j")
        assert KEY not in cursor.fetchone()[0]
    assert for_workers(JudgeEndpoint.objects.get()).wire()["api_key"] == KEY + "2"
    assert AuditEntry.objects.get(action="judge.update").after["key_changed"] is True
    forgotten = admin.patch(path, {"api_key": None}, format="json").json()
    assert forgotten["has_key"] is False
    assert for_workers(JudgeEndpoint.objects.get()).wire()["api_key"] is None


def test_a_key_goes_to_no_other_address(admin: APIClient, team: Team) -> None:
    path = f"/api/v1/judge-endpoints/{create(admin).json()['id']}"
    for address in ("https://elsewhere.example/v1", "http://judge.example/v1", "https://judge.example/v2"):
        refused = admin.patch(path, {"base_url": address}, format="json")
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "key_needed")
        assert [error["pointer"] for error in refused.json()["errors"]] == ["/api_key"]
    kept = for_workers(JudgeEndpoint.objects.get()).wire()
    assert (kept["base_url"], kept["api_key"]) == ("https://judge.example/v1", KEY)
    assert AuditEntry.objects.filter(action="judge.update").count() == 0
    same = admin.patch(path, {"base_url": "https://judge.example/v1/", "name": "Same"}, format="json")
    assert (same.status_code, same.json()["has_key"]) == (200, True)
    moved = admin.patch(path, {"base_url": "https://elsewhere.example/v1", "api_key": KEY + "2"}, format="json")
    assert moved.status_code == 200
    assert for_workers(JudgeEndpoint.objects.get()).wire()["api_key"] == KEY + "2"
    bare = admin.patch(path, {"base_url": "https://third.example/v1", "api_key": None}, format="json").json()
    assert (bare["base_url"], bare["has_key"]) == ("https://third.example/v1", False)
    assert admin.patch(path, {"base_url": "https://judge.example/v1"}, format="json").status_code == 200


def test_a_judge_that_the_cluster_serves_has_no_key(admin: APIClient, team: Team) -> None:
    register(team)
    refused = create(admin, base_url=None, policy="small")
    assert [error["pointer"] for error in refused.json()["errors"]] == ["/api_key"]
    path = f"/api/v1/judge-endpoints/{create(admin).json()['id']}"
    served = {"base_url": None, "policy": "small"}
    refused = admin.patch(path, served, format="json")
    assert [error["pointer"] for error in refused.json()["errors"]] == ["/api_key"]
    changed = admin.patch(path, {**served, "api_key": None}, format="json").json()
    assert (changed["base_url"], changed["policy"], changed["has_key"]) == (None, "small", False)


def test_a_retry_does_not_keep_the_key(admin: APIClient) -> None:
    first = admin.post("/api/v1/judge-endpoints", JUDGE, format="json", headers={"Idempotency-Key": "one"})
    again = admin.post("/api/v1/judge-endpoints", JUDGE, format="json", headers={"Idempotency-Key": "one"})
    assert (first.status_code, again.status_code, again["Idempotency-Replayed"]) == (201, 201, "true")
    assert first.json() == again.json()
    with connection.cursor() as cursor:
        cursor.execute("SELECT string_agg(row_to_json(r)::text, '') FROM common_storedresponse r")
        assert KEY not in cursor.fetchone()[0]


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"base_url": "ftp://judge.example"}, "/base_url"),
        ({"base_url": "judge.example/v1"}, "/base_url"),
        ({"base_url": "https://me:secret@judge.example/v1"}, "/base_url"),
        ({"base_url": "https://judge.example/v1?key=1"}, "/base_url"),
        ({"base_url": "https://judge.example:x/v1"}, "/base_url"),
        ({"base_url": None}, "/base_url"),
        ({"policy": "small"}, "/base_url"),
        ({"base_url": None, "policy": "small"}, "/policy"),
        ({"model": ""}, "/model"),
        ({"max_in_flight": 0}, "/max_in_flight"),
        ({"max_in_flight": 1025}, "/max_in_flight"),
        ({"timeout_s": 0.5}, "/timeout_s"),
        ({"retries": 11}, "/retries"),
        ({"price_prompt": -1}, "/price_prompt"),
        ({"slug": "No"}, "/slug"),
    ],
)
def test_refused(admin: APIClient, fields: dict[str, Any], pointer: str) -> None:
    response = create(admin, **fields)
    assert response.status_code == 422
    assert [error["pointer"] for error in response.json()["errors"]] == [pointer]
    assert KEY not in response.content.decode()
    assert JudgeEndpoint.objects.count() == 0


def test_a_judge_that_the_cluster_serves(admin: APIClient, team: Team) -> None:
    register(team)
    made = create(admin, base_url=None, policy="small", api_key=None).json()
    assert (made["base_url"], made["policy"], made["has_key"]) == (None, "small", False)
    document = for_workers(JudgeEndpoint.objects.get()).wire()
    assert (document["base_url"], document["model_dir"], document["api_key"]) == (None, "/policies/small", None)


def test_definitions_name_only_what_is_there(admin: APIClient) -> None:
    body = {"name": "Quality", "definition": rubric("strict")}
    refused = admin.post("/api/v1/rewards", body, format="json")
    assert refused.status_code == 422
    assert refused.json()["errors"] == [
        {
            "pointer": "/definition/components/0/grader/endpoint",
            "detail": "There is no judge endpoint 'strict' in this team.",
        }
    ]
    assert RewardVersion.objects.count() == 0
    create(admin)
    made = admin.post("/api/v1/rewards", body, format="json")
    assert made.status_code == 201
    nested = {"type": "composite", "parts": [{"grader": rubric("other")["components"][0]["grader"]}]}
    version = {"definition": {"components": [{"name": "q", "grader": nested}]}}
    refused = admin.post(f"/api/v1/rewards/{made.json()['id']}/versions", version, format="json")
    assert [error["pointer"] for error in refused.json()["errors"]] == [
        "/definition/components/0/grader/parts/0/grader/endpoint"
    ]
    model = {"components": [{"name": "m", "grader": {"type": "reward_model", "policy": "gone"}}]}
    refused = admin.post("/api/v1/rewards", {"name": "M", "definition": model}, format="json")
    assert [error["pointer"] for error in refused.json()["errors"]] == ["/definition/components/0/grader/policy"]


def test_needs_are_those_of_the_definition() -> None:
    graders = {
        "one": rubric("a")["components"][0]["grader"],
        "two": {"type": "score_model", "model": "m", "endpoint": "b", "input": [{"role": "user", "content": "x"}]},
        "three": {"type": "reward_model", "policy": "p"},
        "four": {"type": "json_schema", "json_schema": {"type": "object", "properties": {"type": {"type": "string"}}}},
    }
    multi = {"type": "multi", "graders": graders, "calculate_output": "one + two + three"}
    definition = RewardDefinition.model_validate({"components": [{"name": "q", "grader": multi}]})
    assert tuple(slug for _, slug in named_endpoints(definition)) == definition.endpoints == ("a", "b")
    assert tuple(slug for _, slug in named_reward_models(definition)) == definition.reward_models == ("p",)


def test_a_judge_that_a_run_asks_stays(admin: APIClient, nouns: Any, make_run: Any, team: Team) -> None:
    made = create(admin).json()
    admin.post("/api/v1/rewards", {"name": "Quality", "definition": rubric("strict")}, format="json")
    run = make_run(reward={"definition": "quality@1"}, start=True)
    path = f"/api/v1/judge-endpoints/{made['id']}"
    refused = admin.delete(path)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "judge_in_use")
    admin.post(f"/api/v1/runs/{run.id}/cancel")
    assert admin.delete(path).status_code == 204
    assert JudgeEndpoint.objects.count() == 0


def test_a_judge_that_a_staged_control_brings_in_stays(admin: APIClient, launch: Any) -> None:
    path = f"/api/v1/judge-endpoints/{create(admin).json()['id']}"
    admin.post("/api/v1/rewards", {"name": "Quality", "definition": rubric("strict")}, format="json")
    run, _ = launch()
    body = {"target": "reward.shadow", "value": ["quality@1"]}
    headers = {"If-Match": str(run.revision)}
    staged = admin.post(f"/api/v1/runs/{run.id}/controls", body, format="json", headers=headers)
    assert staged.status_code == 202, staged.content
    assert admin.delete(path).json()["error"]["code"] == "judge_in_use"
    assert admin.post(f"/api/v1/runs/{run.id}/controls/{staged.json()['id']}/cancel").status_code == 200
    assert admin.delete(path).status_code == 204


def test_keys_are_bound_to_the_secret_of_the_installation(settings: Any, admin: APIClient, team: Team) -> None:
    sealed = seal(KEY)
    assert KEY not in sealed
    assert unseal(sealed) == KEY
    assert seal(KEY) != sealed, "the same key twice does not look the same"
    with pytest.raises(UnsealError):
        unseal(sealed[:-2] + "AA")
    create(admin)
    settings.SECRET_KEY = "another-secret"
    assert unseal(sealed) == KEY, "the keys of judges do not hang on the key of sessions"
    old, settings.ENCRYPTION_KEYS = settings.ENCRYPTION_KEY_FILE.read_text(), (Fernet.generate_key().decode(),)
    with pytest.raises(UnsealError):
        unseal(sealed)
    [fault] = missing(team, RewardDefinition.model_validate(rubric("strict")), "definition")
    assert fault["pointer"] == "/definition/components/0/grader/endpoint"
    assert fault["detail"] == "The key of the judge endpoint 'strict' can no longer be read: enter it again."
    settings.ENCRYPTION_KEYS = (*settings.ENCRYPTION_KEYS, old)
    assert unseal(sealed) == KEY


def test_slugs_and_teams(admin: APIClient, api: Callable[..., APIClient], other_team: Team) -> None:
    made = create(admin).json()
    taken = create(admin, name="Other", slug="strict")
    assert (taken.status_code, taken.json()["errors"][0]["pointer"]) == (409, "/slug")
    rival = api("admin", team=other_team)
    assert create(rival).status_code == 201
    assert rival.patch(f"/api/v1/judge-endpoints/{made['id']}", {"name": "x"}, format="json").status_code == 404
    response = rival.post("/api/v1/rewards", {"name": "Q", "definition": rubric("default")}, format="json")
    assert response.status_code == 422
