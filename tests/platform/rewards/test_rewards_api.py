"""Rewards: definitions are checked, stored as versions, never changed."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.rewards.models import Reward, RewardVersion
from dressage.teams.models import AuditEntry
from trainer_core.rewards import RewardDefinition

EXACT = {"components": [{"name": "correct", "weight": 1.0, "grader": {"type": "exact"}}]}
MIXED = {
    "components": [
        {"name": "correct", "weight": 1.0, "grader": {"type": "numeric", "tolerance": 0.01}},
        {"name": "form", "weight": 0.2, "grader": {"type": "format"}},
    ],
    "success_threshold": 0.9,
}


@pytest.fixture
def editor(api: Callable[..., APIClient]) -> APIClient:
    return api("editor")


def create(client: APIClient, **fields: Any) -> Any:
    return client.post("/api/v1/rewards", {"name": "Sums", "definition": EXACT, **fields}, format="json")


def test_create(editor: APIClient) -> None:
    response = create(editor, note="first")
    assert response.status_code == 201
    document = response.json()
    version = document["latest_version"]
    assert (document["slug"], document["versions"], document["created_by"]) == ("sums", [version], editor.user.email)
    assert (version["number"], version["ref"], version["note"]) == (1, "sums@1", "first")
    full = RewardDefinition.model_validate(EXACT).model_dump(mode="json")
    assert version["definition"] == full  # defaults written out: later changes of defaults do not reach it
    assert editor.get(f"/api/v1/rewards/{document['id']}").json() == document
    assert editor.get("/api/v1/rewards").json()["data"] == [document]
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.after, entry.reason) == (
        "reward.create",
        {"ref": "sums@1", "definition": full},
        "first",
    )


def test_versions(editor: APIClient) -> None:
    made = create(editor).json()
    path = f"/api/v1/rewards/{made['id']}"
    second = editor.post(f"{path}/versions", {"definition": MIXED, "note": "also the form"}, format="json")
    assert (second.status_code, second.json()["ref"]) == (201, "sums@2")
    document = editor.get(path).json()
    assert document["versions"] == [made["latest_version"], second.json()]
    assert document["latest_version"] == second.json()
    entry = AuditEntry.objects.get(action="reward.version")
    assert (entry.before["ref"], entry.after["ref"]) == ("sums@1", "sums@2")


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"definition": {"components": []}}, "/definition/components"),
        (
            {"definition": {"components": [{"name": "a", "grader": {"type": "no_such_grader"}}]}},
            "/definition/components/0/grader",
        ),
        (
            {"definition": {"components": [{"name": "a", "weight": 1e9, "grader": {"type": "exact"}}]}},
            "/definition/components/0/weight",
        ),
        ({"definition": {**EXACT, "surprise": 1}}, "/definition/surprise"),
        ({"definition": None}, "/definition"),
        ({"definition": "text"}, "/definition"),
        ({"name": ""}, "/name"),
        ({"slug": "A"}, "/slug"),
        ({"note": "x" * 2001}, "/note"),
    ],
)
def test_refused(editor: APIClient, fields: dict[str, Any], pointer: str) -> None:
    response = create(editor, **fields)
    assert response.status_code == 422
    assert [error["pointer"] for error in response.json()["errors"]] == [pointer]
    assert (Reward.objects.count(), RewardVersion.objects.count(), AuditEntry.objects.count()) == (0, 0, 0)


def test_a_taken_slug(editor: APIClient) -> None:
    create(editor)
    response = create(editor, name="Other", slug="sums")
    assert (response.status_code, response.json()["errors"][0]["pointer"]) == (409, "/slug")
    assert RewardVersion.objects.count() == 1


def test_a_refused_version_changes_nothing(editor: APIClient) -> None:
    made = create(editor).json()
    response = editor.post(f"/api/v1/rewards/{made['id']}/versions", {"definition": {}}, format="json")
    assert (response.status_code, response.json()["errors"][0]["pointer"]) == (422, "/definition/components")
    assert RewardVersion.objects.count() == 1


def test_schema_names_every_grader(editor: APIClient) -> None:
    schema = editor.get("/api/v1/rewards/schema").json()
    assert schema == RewardDefinition.model_json_schema()
    assert set(schema["$defs"]["Component"]["properties"]["grader"]["discriminator"]["mapping"]) >= {
        "exact",
        "format",
        "length_penalty",
        "numeric",
    }
