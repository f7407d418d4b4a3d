"""Members that a body may not have, and the names that were probably meant."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.teams.models import ApiToken
from tests.platform.runs.fixtures import spec_document
from trainer_core.spec.faults import no_such_member

TOKEN = {"name": "ci", "role": "viewer"}


def faults(response: Any) -> list[tuple[str, str]]:
    assert response.status_code == 422, response.content
    return [(fault["pointer"], fault["detail"]) for fault in response.json()["errors"]]


def test_an_expiry_with_a_slip_of_the_pen_makes_no_token(api: Callable[..., APIClient]) -> None:
    response = api("admin").post("/api/v1/tokens", {**TOKEN, "expires": "2030-01-01T00:00:00Z"}, format="json")
    assert faults(response) == [("/expires", "There is no member 'expires' here; did you mean 'expires_at'?")]
    assert response.json()["error"]["code"] == "unknown_member"
    assert ApiToken.objects.count() == 0


def test_unknown_members_are_told_beside_other_faults(api: Callable[..., APIClient]) -> None:
    response = api("admin").post("/api/v1/tokens", {"rolle": "viewer", "zebra": 1, "name": ""}, format="json")
    found = dict(faults(response))
    assert list(found) == ["/rolle", "/zebra", "/name", "/role"]
    assert found["/rolle"].endswith("did you mean 'role'?")
    assert found["/zebra"].startswith("There is no member 'zebra' here; it takes expires_at, name, role")


def test_a_flood_of_unknown_members_is_told_in_part(api: Callable[..., APIClient]) -> None:
    body = {**TOKEN, **{f"{index}{'x' * 1000}": 1 for index in range(300)}}
    found = faults(api("admin").post("/api/v1/tokens", body, format="json"))
    assert len(found) == 20
    assert max(len(pointer) for pointer, _ in found) == 81


@pytest.mark.parametrize(
    ("place", "slip", "meant"),
    [
        ((), "nmae", "name"),
        (("optimizer",), "learning_rat", "learning_rate"),
        (("data", "sources", 0), "datasett", "dataset"),
        (("rollout",), "group_sise", "group_size"),
    ],
)
def test_a_spec_names_what_was_meant(
    api: Callable[..., APIClient], place: tuple[str | int, ...], slip: str, meant: str
) -> None:
    spec = spec_document()
    node: Any = spec
    for part in place:
        node = node[part] if isinstance(part, int) else node.setdefault(part, {})
    node[slip] = 1
    pointer = "/spec/" + "/".join(str(part) for part in (*place, slip))
    client = api("admin")
    answer = client.post("/api/v1/spec/validate", {"spec": spec}, format="json").json()
    told = {fault["pointer"]: fault["detail"] for fault in answer["errors"]}
    if meant != "name":  # a spec has no name of its own
        assert told[pointer].endswith(f"did you mean {meant!r}?")
    refused = dict(faults(client.post("/api/v1/runs", {"name": "n", "spec": spec}, format="json")))
    assert refused[pointer] == told[pointer]


def test_a_grader_names_members_of_its_own_type_alone(api: Callable[..., APIClient]) -> None:
    grader = {"type": "numeric", "tolerence": 1, "pattern": "x"}
    body = {"name": "n", "definition": {"components": [{"name": "a", "grader": grader}]}}
    found = dict(faults(api("admin").post("/api/v1/rewards", body, format="json")))
    assert found["/definition/components/0/grader/tolerence"].endswith("did you mean 'tolerance'?")
    assert "pattern" not in found["/definition/components/0/grader/pattern"].partition(" here; ")[2]


@pytest.mark.parametrize(
    ("name", "known", "told"),
    [
        ("expires", ["name", "expires_at"], "did you mean 'expires_at'?"),
        ("Name", ["name"], "did you mean 'name'?"),
        ("xyz", ["name", "role"], "it takes name, role."),
        ("xyz", [], "none is taken."),
    ],
)
def test_sentences(name: str, known: list[str], told: str) -> None:
    assert no_such_member(name, known) == f"There is no member {name!r} here; {told}"
