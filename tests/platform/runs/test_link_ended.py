"""A token ends with its attempt: however that ended, nothing answers it any more, and nothing is written."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.rewards.judges.services import create_judge_endpoint
from dressage.rewards.services import create_reward
from dressage.runs.life.services import resume_run
from dressage.runs.models import Attempt, Checkpoint, Control, Run
from dressage.runs.recovery.attempts import fail_attempt
from dressage.runs.steer.staging import stage_control
from dressage.runs.sweep import reconcile
from dressage.runs.sweep.reconcile import sweep
from dressage.runs.tokens import link_token
from dressage.teams.models import Team
from dressage.telemetry.models import Event, Moment, Point, Rollout
from tests.platform.runs.fixtures import Worker, expire_lease, step_event
from trainer_core.link.admission import attempt_path, proof
from trainer_core.rewards import RewardDefinition

Launch = Callable[..., tuple[Run, Worker]]
KEY = "sk-very-secret-0123456789"


def reported(state: str) -> Callable[..., None]:
    return lambda run, worker, team, actor: worker.state(state, "over")


def fenced(run: Run, worker: Worker, team: Team, actor: Actor) -> None:
    fail_attempt(Attempt.objects.get(run=run).id, "given up")


def superseded(run: Run, worker: Worker, team: Team, actor: Actor) -> None:
    expire_lease(run)
    sweep()


def superseded_unfenced(run: Run, worker: Worker, team: Team, actor: Actor) -> None:
    superseded(run, worker, team, actor)
    Attempt.objects.update(fenced=False, ended_at=None)


def queued_again(run: Run, worker: Worker, team: Team, actor: Actor) -> None:
    worker.state("failed", "broken")
    resume_run(team, actor, run.id)


def ended_before_ends_were_noted(run: Run, worker: Worker, team: Team, actor: Actor) -> None:
    worker.state("succeeded", "over")
    Attempt.objects.update(ended_at=None)


ENDS: dict[str, Callable[..., None]] = {
    **{state: reported(state) for state in ("succeeded", "failed", "cancelled")},
    "fenced": fenced,
    "superseded": superseded,
    "superseded, unfenced": superseded_unfenced,
    "queued again": queued_again,
    "of before": ended_before_ends_were_noted,
}


def stored() -> list[Any]:
    """Everything that the link may write, leases included."""
    models = (Run, Attempt, Control, Checkpoint, Event, Moment, Point, Rollout)
    return [row for model in models for row in model.objects.order_by("pk").values()]


def ask(run: Run, endpoint: str, seq: int) -> Any:
    """One request with the token of attempt 1, or for it."""
    client = APIClient(headers={"Authorization": f"Bearer {link_token(run.id, 1)}"})
    base = f"/api/v1/link/runs/{run.id}"
    if endpoint in ("bundle", "datasets/sums@1"):
        return client.get(f"{base}/{endpoint}")
    if endpoint == "token":
        path = attempt_path(run.id, 1)
        return APIClient(headers={"Authorization": f"Cluster {proof_for(path)}"}).post(path)
    events = {
        "sync: step 7 of 6": [{"seq": seq + 1, "at": "2026-11-21T06:00:00Z", **step_event(7)}],
        "sync: alive": [],
        "sync: first event": [{"seq": 1, "at": "2026-11-21T06:00:00Z", **step_event(1)}] if seq > 1 else [],
    }[endpoint]
    return client.post(f"{base}/sync", {"attempt": 1, "events": events, "applied": []}, format="json")


def proof_for(path: str) -> str:
    from django.conf import settings

    return proof(settings.CLUSTER_SECRET, settings.LINK_URL, path)


@pytest.mark.parametrize("endpoint", [
    "bundle", "datasets/sums@1", "token", "sync: step 7 of 6", "sync: alive", "sync: first event",
])  # fmt: skip
@pytest.mark.parametrize("end", ENDS)
def test_no_endpoint_answers_the_token_of_an_attempt_that_has_ended(
    launch: Launch, team: Team, actor: Actor, end: str, endpoint: str
) -> None:
    run, worker = launch(schedule={"steps": 6})
    worker.steps(1, 6)
    ENDS[end](run, worker, team, actor)
    before = stored()
    response = ask(run, endpoint, worker.seq)
    assert response.status_code == 409, response.content
    assert response.json()["error"]["code"] in ("attempt_ended", "stale_attempt")
    assert stored() == before


@pytest.mark.parametrize("state", ["succeeded", "failed", "cancelled"])
def test_a_worker_that_did_not_hear_the_answer_to_its_last_word_is_answered(launch: Launch, state: str) -> None:
    _, worker = launch()
    worker.sync(step_event(1), {"kind": "state", "data": {"state": state, "reason": "over"}})
    before = stored()
    answer = worker.repeat()
    assert (answer["acked_seq"], answer["commands"]) == (worker.seq, [])
    assert stored() == before, "not even the lease"


@pytest.mark.parametrize("end", ["fenced", "superseded", "superseded, unfenced", "queued again"])
def test_an_attempt_that_was_given_up_is_not_answered_so(launch: Launch, team: Team, actor: Actor, end: str) -> None:
    run, worker = launch()
    worker.steps(1, 2)
    ENDS[end](run, worker, team, actor)
    before = stored()
    worker.repeat(409)
    assert stored() == before


def test_what_follows_the_end_in_one_sync_is_not_written(launch: Launch) -> None:
    run, worker = launch(schedule={"steps": 6})
    answer = worker.sync(step_event(6), {"kind": "state", "data": {"state": "succeeded"}}, step_event(7))
    assert answer["acked_seq"] == worker.seq
    run.refresh_from_db()
    assert (run.state, run.step) == ("succeeded", 6)
    assert list(Point.objects.values_list("step", flat=True).distinct()) == [6]


@pytest.fixture
def judged(launch: Launch, nouns: Any, team: Team, actor: Actor) -> tuple[Run, Worker]:
    """A run whose reward asks a judge with a key; its worker has synced."""
    create_judge_endpoint(team, actor, name="Strict", slug=None, base_url="http://127.0.0.1/v1", model="m", api_key=KEY)
    items = [{"name": "clear", "description": "Is clear."}]
    rubric = {"name": "quality", "grader": {"type": "rubric", "endpoint": "strict", "items": items}}
    definition = RewardDefinition.model_validate({"components": [rubric]})
    create_reward(team, actor, name="Judged", definition=definition)
    create_reward(team, actor, name="Shadow", definition=definition)
    return launch(reward={"definition": "judged@1", "shadow": ["shadow@1"]})


def test_the_keys_of_judges_are_fetched_once(judged: tuple[Run, Worker]) -> None:
    _, worker = judged
    Attempt.objects.update(first_sync_at=None)
    assert worker.get("bundle").content.decode().count(KEY) == 2
    assert worker.get("bundle").content.decode().count(KEY) == 2, "it may not have heard the answer"
    worker.sync()
    again = worker.get("bundle")
    assert KEY not in again.content.decode()
    assert again.json()["judges"]["strict"]["api_key"] is None
    assert again.json()["shadow"]["shadow@1"]["judges"]["strict"]["base_url"] == "http://127.0.0.1/v1"


def test_a_worker_of_before_is_given_the_keys_once(judged: tuple[Run, Worker]) -> None:
    _, worker = judged
    assert KEY in worker.get("bundle").content.decode()
    assert KEY not in worker.get("bundle").content.decode()


def test_keys_are_in_no_row_that_a_run_writes(judged: tuple[Run, Worker], team: Team, actor: Actor) -> None:
    run, worker = judged
    stage_control(team, actor, run.id, revision=0, target="reward.shadow", value=[])
    worker.get("bundle")
    worker.sync(step_event(1))
    reconcile.sweep()
    assert KEY not in str(stored())
