"""Policies that cannot be trained as a spec asks are refused before a run exists, with what to do."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.common.api.problems import Problem
from dressage.rehearsals.models import Rehearsal
from dressage.runs.life.services import resume_run
from dressage.runs.models import Run
from dressage.runs.sweep.reconcile import sweep
from dressage.teams.models import Team
from tests.platform.runs.fixtures import Worker, spec_document

REFUSED = json.dumps({"architectures": ["Gemma3ForConditionalGeneration"], "vision_config": {}})
UNKNOWN = json.dumps({"architectures": ["Qwen4ForCausalLM"], "model_type": "qwen4"})
UNTRIED = json.dumps({"architectures": ["Ernie4_5ForCausalLM"], "model_type": "ernie4_5"})


@pytest.mark.parametrize(
    ("config", "way_out"),
    [
        (REFUSED, "save its text part as Gemma3ForCausalLM"),
        (UNKNOWN, "The closest that learner and engine know is Qwen3ForCausalLM"),
    ],
)
def test_a_policy_that_cannot_train_is_refused_with_the_way_out(
    api: Callable[..., APIClient], nouns: Path, config: str, way_out: str
) -> None:
    (nouns / "config.json").write_text(config)
    body = {"name": "n", "spec": spec_document(), "start": False}
    answer = api("operator").post("/api/v1/runs", body, format="json")
    assert answer.status_code == 422
    [error] = answer.json()["errors"]
    assert error["pointer"] == "/spec/policy/base"
    assert way_out in error["detail"]
    rehearsed = api("operator").post("/api/v1/rehearsals", {"spec": spec_document()}, format="json")
    assert (rehearsed.status_code, rehearsed.json()["errors"]) == (422, [error])
    assert not Run.objects.exists()
    assert not Rehearsal.objects.exists()
    checked = api("operator").post("/api/v1/spec/validate", {"spec": spec_document()}, format="json").json()
    assert (checked["valid"], checked["errors"]) == (False, [error])


def test_a_class_that_both_libraries_load_may_be_tried(api: Callable[..., APIClient], nouns: Path) -> None:
    (nouns / "config.json").write_text(UNTRIED)
    checked = api("operator").post("/api/v1/spec/validate", {"spec": spec_document()}, format="json").json()
    assert (checked["valid"], checked["errors"]) == (True, [])
    made = api("operator").post("/api/v1/runs", {"name": "n", "spec": spec_document(), "start": False}, format="json")
    assert made.status_code == 201


def test_a_spec_beyond_a_policys_positions_is_told_the_field(api: Callable[..., APIClient], nouns: Path) -> None:
    config = {"architectures": ["Qwen3ForCausalLM"], "max_position_embeddings": 64}
    (nouns / "config.json").write_text(json.dumps(config))
    answer = api("operator").post("/api/v1/spec/validate", {"spec": spec_document()}, format="json")
    [error] = answer.json()["errors"]
    assert error["pointer"] == "/spec/rollout/engine/max_model_len"
    assert error["detail"].endswith("set rollout.engine.max_model_len to 64 or less.")
    (nouns / "config.json").write_text(json.dumps({**config, "max_position_embeddings": 96}))
    answer = api("operator").post("/api/v1/spec/validate", {"spec": spec_document()}, format="json")
    assert answer.json()["errors"] == []


def test_a_run_that_has_a_checkpoint_goes_on_all_the_same(
    launch: Callable[..., tuple[Run, Worker]], nouns: Path, team: Team, actor: Actor
) -> None:
    """As after an upgrade that refuses what a former release began."""
    run, worker = launch()
    (nouns / "config.json").write_text(REFUSED)
    assert worker.get("bundle").json()["policy"]["name"] == "small"
    worker.step(1)
    worker.checkpoint(1)
    worker.state("failed", "x")
    resume_run(team, actor, run.id)
    sweep()
    run.refresh_from_db()
    assert (run.state, run.attempt) == ("starting", 2)
    assert Worker(run.id, 2).get("bundle").json()["resume"]["step"] == 1


def test_a_run_that_has_trained_nothing_does_not_begin(
    launch: Callable[..., tuple[Run, Worker]], make_run: Callable[..., Run], nouns: Path, team: Team, actor: Actor
) -> None:
    run, worker = launch()
    waiting = make_run("waits", start=True)
    (nouns / "config.json").write_text(REFUSED)
    worker.state("failed", "x")
    with pytest.raises(Problem, match="save its text part as Gemma3ForCausalLM"):
        resume_run(team, actor, run.id)
    sweep()
    waiting.refresh_from_db()
    assert waiting.state == "failed"
    assert "save its text part as Gemma3ForCausalLM" in waiting.state_reason
