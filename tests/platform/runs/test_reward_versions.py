"""A run's reward versions: in the bundle, in commands, on rollouts; what the team lacks is refused beforehand."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from django.db import connection
from rest_framework.test import APIClient

from dressage.rewards.judges.services import create_judge_endpoint
from dressage.rewards.models import JudgeEndpoint
from dressage.runs.models import Control, Run
from dressage.teams.models import AuditEntry
from dressage.telemetry.models import Event, Rollout
from tests.platform.runs.fixtures import Worker, spec_document
from tests.platform.runs.test_link import ROW

Launch = Callable[..., tuple[Run, Worker]]
KEY = "sk-very-secret-0123456789"
ITEMS = [{"name": "clear", "description": "Is clear."}]


def rubric(endpoint: str) -> dict[str, Any]:
    return {"components": [{"name": "quality", "grader": {"type": "rubric", "endpoint": endpoint, "items": ITEMS}}]}


@pytest.fixture
def rewards(api: Callable[..., APIClient], team: Any, actor: Any, nouns: Any) -> APIClient:
    """Beside ``exact@1``: ``judged@1`` and ``strict@1``, each by a judge of its own."""
    client = api("operator")
    for name in ("One", "Two", "Proposer"):
        create_judge_endpoint(team, actor, name=name, slug=None, base_url=f"http://{name}/v1", model="m", api_key=KEY)
    for name, judge in (("Judged", "one"), ("Strict", "two")):
        made = client.post("/api/v1/rewards", {"name": name, "definition": rubric(judge)}, format="json")
        assert made.status_code == 201, made.content
    return client


def stage(client: APIClient, run: Run, target: str, value: Any) -> Any:
    run.refresh_from_db()
    body = {"target": target, "value": value}
    headers = {"If-Match": str(run.revision)}
    return client.post(f"/api/v1/runs/{run.id}/controls", body, format="json", headers=headers)


def test_the_bundle_has_all_that_any_version_needs(rewards: APIClient, launch: Launch) -> None:
    evolve = {"component": "quality", "endpoint": "proposer", "prompts_per_step": 1}
    run, worker = launch(reward={"definition": "judged@1", "shadow": ["strict@1", "exact@1"], "evolve": evolve})
    bundle = worker.get("bundle").json()
    assert bundle["reward"]["ref"] == "judged@1"
    assert bundle["judges"].keys() == {"one", "two", "proposer"}
    assert bundle["judges"]["one"]["api_key"] == KEY
    assert bundle["reward_models"] == {}
    assert bundle["shadow"].keys() == {"strict@1", "exact@1"}
    assert bundle["shadow"]["strict@1"]["judges"].keys() == {"two"}
    assert bundle["shadow"]["strict@1"]["definition"]["components"][0]["grader"]["endpoint"] == "two"
    assert bundle["shadow"]["exact@1"]["judges"] == {}
    assert KEY not in str(rewards.get(f"/api/v1/runs/{run.id}").json())
    assert KEY not in str(list(Event.objects.values())) + str(list(AuditEntry.objects.values()))


def test_a_bundle_without_judges(launch: Launch) -> None:
    bundle = launch()[1].get("bundle").json()
    assert (bundle["judges"], bundle["reward_models"], bundle["shadow"]) == ({}, {}, {})


def test_controls_bring_the_definitions_that_they_name(rewards: APIClient, launch: Launch) -> None:
    run, worker = launch()
    assert stage(rewards, run, "reward.shadow", ["strict@1", "judged@1"]).status_code == 202
    assert stage(rewards, run, "reward.definition", "judged@1").status_code == 202
    assert stage(rewards, run, "thinking.budget", 10).status_code == 202
    shadow, promoted, plain = worker.sync()["commands"]
    assert shadow["definitions"].keys() == {"strict@1", "judged@1"}
    assert promoted["definitions"].keys() == {"judged@1"}
    assert promoted["definitions"]["judged@1"]["judges"]["one"]["api_key"] == KEY
    assert promoted["definitions"]["judged@1"]["definition"]["components"][0]["name"] == "quality"
    assert "definitions" not in plain
    assert KEY not in str(list(Control.objects.values())) + str(list(Event.objects.values()))
    worker.sync(applied=[{"control_id": promoted["id"], "state": "applied", "step": 2}])
    bundle = worker.get("bundle").json()
    assert bundle["reward"]["ref"] == "judged@1", "a promoted version is what the next attempt begins with"


@pytest.mark.parametrize(
    ("target", "value", "says"),
    [
        ("reward.definition", "gone@1", "There is no reward version gone@1"),
        ("reward.definition", "judged@9", "There is no reward version judged@9"),
        ("reward.shadow", ["exact@1", "gone@1"], "There is no reward version gone@1"),
    ],
)
def test_unknown_versions_are_refused_when_staged(
    rewards: APIClient, launch: Launch, target: str, value: Any, says: str
) -> None:
    run, worker = launch()
    refused = stage(rewards, run, target, value)
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/value")
    assert says in refused.json()["detail"]
    assert worker.sync()["commands"] == []
    assert Control.objects.count() == 0


def test_a_version_whose_judge_is_gone_is_refused_when_staged(rewards: APIClient, launch: Launch) -> None:
    run, worker = launch()
    JudgeEndpoint.objects.filter(slug="one").delete()
    for target, value in (("reward.definition", "judged@1"), ("reward.shadow", ["judged@1"])):
        refused = stage(rewards, run, target, value)
        assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/value")
        assert refused.json()["detail"] == "judged@1: There is no judge endpoint 'one' in this team."
    assert worker.sync()["commands"] == []


def test_a_promotion_must_fit_what_the_run_watches(rewards: APIClient, launch: Launch) -> None:
    bias = {"component": "quality"}
    run, _ = launch(reward={"definition": "judged@1", "length_bias": bias})
    refused = stage(rewards, run, "reward.definition", "exact@1")
    assert refused.status_code == 422
    assert "quality" in refused.json()["detail"]
    assert stage(rewards, run, "reward.definition", "strict@1").status_code == 202


def test_a_judge_that_became_unfit_does_not_break_the_link(rewards: APIClient, launch: Launch, settings: Any) -> None:
    run, worker = launch()
    assert stage(rewards, run, "reward.definition", "judged@1").status_code == 202
    JudgeEndpoint.objects.update(api_key_sealed="broken")
    [command] = worker.sync()["commands"]
    assert command["definitions"] == {}


def test_specs_name_only_what_is_there(rewards: APIClient) -> None:
    JudgeEndpoint.objects.filter(slug="two").delete()
    reward = {
        "definition": "judged@1",
        "shadow": ["gone@1", "strict@1"],
        "evolve": {"component": "quality", "endpoint": "nobody", "prompts_per_step": 1},
    }
    refused = rewards.post("/api/v1/runs", {"name": "n", "spec": spec_document(reward=reward)}, format="json")
    assert refused.status_code == 422
    assert {error["pointer"]: error["detail"] for error in refused.json()["errors"]} == {
        "/spec/reward/shadow/0": "There is no reward version gone@1 in this team.",
        "/spec/reward/shadow/1": "strict@1: There is no judge endpoint 'two' in this team.",
        "/spec/reward/evolve/endpoint": "There is no judge endpoint 'nobody' in this team.",
    }


def test_a_judge_that_proposes_must_be_fit_for_use(rewards: APIClient) -> None:
    JudgeEndpoint.objects.filter(slug="proposer").update(api_key_sealed="broken")
    evolve = {"component": "quality", "endpoint": "proposer", "prompts_per_step": 1}
    spec = spec_document(reward={"definition": "judged@1", "evolve": evolve})
    [error] = rewards.post("/api/v1/runs", {"name": "n", "spec": spec}, format="json").json()["errors"]
    assert error["pointer"] == "/spec/reward/evolve/endpoint"
    assert "can no longer be read" in error["detail"]


def test_rollouts_bear_their_reward_version_and_shadows(launch: Launch, api: Callable[..., APIClient]) -> None:
    run, worker = launch()
    shadow = {"strict@1": 0.5, "judged@1": None, "odd@1": "NaN"}
    rows = [ROW, {**ROW, "sample": 1, "reward_version": "judged@1", "shadow": shadow}]
    worker.sync({"kind": "rollouts", "step": 1, "data": {"rows": rows}})
    plain, marked = Rollout.objects.order_by("sample")
    assert (plain.reward_version, plain.shadow) == ("exact@1", {})
    assert marked.reward_version == "judged@1"
    assert marked.shadow == {"strict@1": 0.5, "judged@1": None, "odd@1": None}
    shown = api("viewer").get(f"/api/v1/runs/{run.id}/rollouts").json()["data"]
    assert [row["reward_version"] for row in shown] == ["exact@1", "judged@1"]
    assert shown[1]["shadow"] == marked.shadow


def test_rollouts_of_before_get_the_version_of_their_run(launch: Launch) -> None:
    backfill = import_module("dressage.telemetry.migrations.0002_rollout_reward").BACKFILL
    _, worker = launch()
    worker.sync({"kind": "rollouts", "step": 1, "data": {"rows": [ROW]}})
    Rollout.objects.update(reward_version=None)
    with connection.cursor() as cursor:
        cursor.execute(backfill)
    assert Rollout.objects.get().reward_version == "exact@1"
