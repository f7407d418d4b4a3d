"""Evolving rubrics: what runs propose is kept with its origin; people accept, edit and retire it."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.rewards.models import RewardVersion, RubricProposal
from dressage.runs.models import Run
from dressage.teams.models import AuditEntry, Team
from dressage.telemetry.models import Event
from tests.platform.runs.fixtures import Worker

FIRST = {"name": "clear", "description": "Is clear.", "weight": 1.0}
RUBRIC = {"type": "rubric", "endpoint": "default", "items": [FIRST]}
DEFINITION = {
    "components": [
        {"name": "right", "grader": {"type": "exact"}},
        {"name": "quality", "grader": {"type": "composite", "parts": [{"grader": RUBRIC}]}},
    ]
}
PROPOSAL = {
    "name": "shows work", "description": "Shows its work.", "weight": 2.0, "prompt_id": "add:0", "prompt_text": "1+1=",
    "better": "1+1 is 2", "worse": "2", "better_reward": 1.0, "worse_reward": 0.5, "reason": "It explains.",
}  # fmt: skip


@pytest.fixture
def editor(api: Callable[..., APIClient]) -> APIClient:
    return api("editor")


@pytest.fixture
def proposing(
    api: Callable[..., APIClient], editor: APIClient, nouns: Any, launch: Callable[..., tuple[Run, Worker]]
) -> tuple[str, Worker]:
    """A reward with a rubric, and the worker of a run that goes by its first version."""
    judge = {"name": "Default", "base_url": "http://judge.example/v1", "model": "m"}
    assert api("admin").post("/api/v1/judge-endpoints", judge, format="json").status_code == 201
    made = editor.post("/api/v1/rewards", {"name": "Quality", "definition": DEFINITION}, format="json")
    assert made.status_code == 201, made.content
    _, worker = launch(reward={"definition": "quality@1"})
    return made.json()["id"], worker


def propose(worker: Worker, *proposals: dict[str, Any], step: int = 4, **more: Any) -> Any:
    data = {"component": "quality", "proposals": list(proposals), **more}
    return worker.sync({"kind": "rubric_proposals", "step": step, "data": data})


def items(definition: dict[str, Any]) -> list[dict[str, Any]]:
    return definition["components"][1]["grader"]["parts"][0]["grader"]["items"]


def listed(client: APIClient, reward: str, **query: str) -> list[Any]:
    return client.get(f"/api/v1/rewards/{reward}/proposals", query).json()["data"]


def decide(client: APIClient, reward: str, proposal: str, verb: str, status: int = 200, **body: Any) -> Any:
    path = f"/api/v1/rewards/{reward}/proposals/{proposal}/{verb}"
    response = client.post(path, body, format="json")
    assert response.status_code == status, response.content
    return response.json()


def test_proposals_are_kept_with_their_origin(proposing: tuple[str, Worker], editor: APIClient) -> None:
    reward, worker = proposing
    propose(worker, PROPOSAL, {**PROPOSAL, "name": "guesses", "weight": -1.0})
    worker.repeat()
    propose(worker, PROPOSAL, step=8)
    found = listed(editor, reward)
    assert sorted(row["name"] for row in found) == ["guesses", "shows work"]
    kept = next(row for row in found if row["name"] == "shows work")
    assert {key: kept[key] for key in PROPOSAL} == PROPOSAL
    assert (kept["state"], kept["run"], kept["run_name"], kept["step"]) == ("proposed", worker.run_id, "first", 4)
    assert (kept["component"], kept["reward_version"], kept["accepted_version"]) == ("quality", "quality@1", None)
    event = Event.objects.get(kind="rubric_proposals")
    assert event.data == {
        "component": "quality", "reward": reward, "reward_version": "quality@1", "count": 2,
        "names": ["shows work", "guesses"],
    }  # fmt: skip
    assert listed(editor, reward, state="retired") == []
    assert listed(editor, reward, run="run_other") == []
    assert len(listed(editor, reward, state="proposed", run=worker.run_id)) == 2
    assert editor.get(f"/api/v1/rewards/{reward}/proposals", {"state": "odd"}).status_code == 422


def test_events_that_make_no_sense_do_not_block(proposing: tuple[str, Worker]) -> None:
    _, worker = proposing
    propose(worker, {**PROPOSAL, "weight": "much"})
    propose(worker, {**PROPOSAL, "name": ""})
    propose(worker, PROPOSAL, reward_version="gone@1")
    messages = [event.data["message"] for event in Event.objects.filter(kind="log").order_by("seq")]
    assert "proposals.0.weight" in messages[0]
    assert "proposals.0.name" in messages[1]
    assert "There is no reward version gone@1" in messages[2]
    assert RubricProposal.objects.count() == 0


def test_accepting_makes_the_next_version(proposing: tuple[str, Worker], editor: APIClient) -> None:
    reward, worker = proposing
    propose(worker, PROPOSAL, {**PROPOSAL, "name": "guesses", "weight": -1.0})
    second, first = sorted(listed(editor, reward), key=lambda row: row["name"] == "shows work")
    made = decide(editor, reward, first["id"], "accept", note="good idea")
    assert made["version"]["ref"] == "quality@2"
    added = {key: PROPOSAL[key] for key in ("name", "description", "weight")}
    assert items(made["version"]["definition"]) == [FIRST, added]
    assert made["version"]["note"] == "good idea"
    assert (made["proposal"]["state"], made["proposal"]["accepted_version"]) == ("accepted", "quality@2")
    edited = decide(editor, reward, second["id"], "accept", name="Does not guess", weight=-3.0)
    assert items(edited["version"]["definition"])[2] == {
        "name": "Does not guess", "description": "Shows its work.", "weight": -3.0
    }  # fmt: skip
    assert edited["proposal"]["name"] == "guesses", "what was proposed stays on record"
    assert edited["proposal"]["accepted_name"] == "Does not guess"
    assert edited["version"]["note"] == "accepts 'Does not guess' for quality, proposed by first at step 4"
    assert items(RewardVersion.objects.get(number=1, reward_id=reward).definition) == [FIRST]
    assert decide(editor, reward, first["id"], "accept", 409)["error"]["code"] == "wrong_state"
    entry = AuditEntry.objects.filter(action="proposal.accept").order_by("number").first()
    assert entry is not None
    assert (entry.after["version"], entry.reason) == ("quality@2", "good idea")


def test_accepting_what_does_not_fit(proposing: tuple[str, Worker], editor: APIClient) -> None:
    reward, worker = proposing
    propose(worker, PROPOSAL)
    propose(worker, {**PROPOSAL, "name": "stray"}, component="right")
    stray, fitting = listed(editor, reward)
    for body, pointer in (
        ({"name": "clear"}, "/name"),
        ({"weight": 0}, "/weight"),
        ({"description": ""}, "/description"),
    ):
        status = 409 if pointer == "/name" else 422
        refused = decide(editor, reward, fitting["id"], "accept", status, **body)
        assert [error["pointer"] for error in refused["errors"]] == [pointer]
    assert "has no rubric" in decide(editor, reward, stray["id"], "accept", 409)["detail"]
    assert RewardVersion.objects.filter(reward_id=reward).count() == 1
    assert set(RubricProposal.objects.values_list("state", flat=True)) == {"proposed"}


def test_retiring(proposing: tuple[str, Worker], editor: APIClient) -> None:
    reward, worker = proposing
    propose(worker, PROPOSAL, {**PROPOSAL, "name": "guesses"})
    waiting, accepted = sorted(listed(editor, reward), key=lambda row: row["name"] == "shows work")
    gone = decide(editor, reward, waiting["id"], "retire", note="too vague")
    assert (gone["version"], gone["proposal"]["state"], gone["proposal"]["note"]) == (None, "retired", "too vague")
    decide(editor, reward, accepted["id"], "accept", name="work")
    taken = decide(editor, reward, accepted["id"], "retire")
    assert taken["version"]["ref"] == "quality@3"
    assert items(taken["version"]["definition"]) == [FIRST]
    assert decide(editor, reward, accepted["id"], "retire")["version"] is None, "it is retired already"
    again = decide(editor, reward, accepted["id"], "accept")
    assert (again["version"]["ref"], again["proposal"]["state"]) == ("quality@4", "accepted")


def test_a_retired_item_that_people_have_removed_makes_no_version(
    proposing: tuple[str, Worker], editor: APIClient
) -> None:
    reward, worker = proposing
    propose(worker, PROPOSAL)
    [row] = listed(editor, reward)
    decide(editor, reward, row["id"], "accept")
    editor.post(f"/api/v1/rewards/{reward}/versions", {"definition": DEFINITION}, format="json")
    assert decide(editor, reward, row["id"], "retire")["version"] is None
    assert RewardVersion.objects.filter(reward_id=reward).count() == 3


def test_an_item_that_the_rubric_needs_stays(proposing: tuple[str, Worker], editor: APIClient) -> None:
    reward, worker = proposing
    propose(worker, PROPOSAL)
    [row] = listed(editor, reward)
    definition = decide(editor, reward, row["id"], "accept")["version"]["definition"]
    items(definition).pop(0)
    editor.post(f"/api/v1/rewards/{reward}/versions", {"definition": definition}, format="json")
    refused = decide(editor, reward, row["id"], "retire", 409)
    assert refused["error"]["code"] == "item_needed"
    assert "a rubric needs a criterion of positive weight" in refused["detail"]
    assert RubricProposal.objects.get().state == "accepted"
    assert RewardVersion.objects.filter(reward_id=reward).count() == 3


def test_proposals_are_of_their_reward(
    proposing: tuple[str, Worker], editor: APIClient, api: Callable[..., APIClient], other_team: Team
) -> None:
    reward, worker = proposing
    propose(worker, PROPOSAL)
    [row] = listed(editor, reward)
    other = editor.get("/api/v1/rewards").json()["data"][-1]["id"]
    assert other != reward
    decide(editor, other, row["id"], "accept", 404)
    rival = api("editor", team=other_team)
    decide(rival, reward, row["id"], "accept", 404)
    assert rival.get(f"/api/v1/rewards/{reward}/proposals").status_code == 404
