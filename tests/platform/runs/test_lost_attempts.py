"""Attempts that are known to be lost: their workers say so, or the cluster does, and the next one begins at once."""

import base64
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import redis
from django.db.models import F
from django.db.models.functions import Now
from django.test import TestCase
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.runs.life.services import cancel_run, pause_run
from dressage.runs.models import Attempt, Run, Sweep
from dressage.runs.recovery.attempts import QUIET_S
from dressage.runs.sweep import reconcile
from dressage.teams.models import Team
from tests.platform.runs.fixtures import Worker, expire_lease, step_event
from trainer_core.link.admission import lost_path, proof

Launch = Callable[..., tuple[Run, Worker]]
DIED = "learner rank 0 died in update"


@pytest.fixture
def queues(settings: Any) -> Callable[[str], list[tuple[str, dict[str, Any]]]]:
    """Takes the messages (task, arguments) that were sent to a queue out of the real Redis."""
    client = redis.Redis.from_url(settings.REDIS_URL)
    client.delete("cluster", "platform")

    def take(queue: str) -> list[tuple[str, dict[str, Any]]]:
        found = []
        while (raw := client.rpop(queue)) is not None:
            assert isinstance(raw, bytes)
            message = json.loads(raw)
            found.append((message["headers"]["task"], json.loads(base64.b64decode(message["body"]))[1]))
        return found

    return take


@pytest.fixture
def report(settings: Any) -> Callable[..., Any]:
    """``report(run, attempt)``: the answer to a worker of the cluster that has found the attempt's controller dead."""

    def send(run: Run, attempt: int, secret: str | None = None) -> Any:
        path = lost_path(run.id, attempt)
        proved = proof(settings.CLUSTER_SECRET if secret is None else secret, settings.LINK_URL, path)
        with TestCase.captureOnCommitCallbacks(execute=True):
            return APIClient(headers={"Authorization": f"Cluster {proved}"}).post(path, {}, format="json")

    return send


def sweep() -> None:
    with TestCase.captureOnCommitCallbacks(execute=True):
        reconcile.sweep()


def lose(worker: Worker, *events: dict[str, Any], lost: str = DIED, status: int = 200) -> Any:
    """The last sync of a worker whose attempt ends although the run has not."""
    numbered = []
    for event in events:
        worker.seq += 1
        numbered.append({"seq": worker.seq, "at": worker.at, "step": None, **event})
    return worker.post({"attempt": worker.attempt, "events": numbered, "applied": [], "lost": lost}, status)


def silence(run: Run, seconds: float) -> None:
    Attempt.objects.filter(run=run).update(last_sync_at=Now() - timedelta(seconds=seconds), rung_at=None)


def now(run: Run) -> tuple[str, int]:
    run.refresh_from_db()
    return run.state, run.attempt


def test_a_worker_that_says_lost_is_replaced_without_waiting_for_its_lease(
    launch: Launch, queues: Callable[[str], list[Any]]
) -> None:
    run, worker = launch()
    worker.steps(1, 11)
    worker.checkpoint(10)
    queues("cluster")
    lose(worker, step_event(12))
    assert [task for task, _ in queues("platform")] == ["runs.reconcile"], "the sweep does not wait for its beat"
    sweep()
    assert (now(run), run.step) == (("starting", 2), 10)
    assert run.state_reason == f"Attempt 2: attempt 1 was lost after step 12: {DIED}."
    assert [(task, arguments["attempt"]) for task, arguments in queues("cluster")] == [
        ("worker.tasks.stop", 1),
        ("worker.tasks.start", 2),
    ]
    lose(worker, status=409)  # the answer was lost
    assert now(run) == ("starting", 2)


def test_a_loss_before_the_first_step_is_retried_once_and_then_waits_for_the_lease(launch: Launch) -> None:
    run, worker = launch()
    lose(worker)
    sweep()
    assert now(run) == ("starting", 2)
    for attempt in (2, 3, 4, 5):
        worker = Worker(run.id, attempt)
        worker.state("starting")
        lose(worker, lost=f"loss {attempt}.")
        sweep()
        assert now(run) == ("starting", attempt), "a cause that persists does not use up all attempts"
        expire_lease(run)
        sweep()
    assert now(run) == ("failed", 5)
    assert run.state_reason == (
        "5 attempts did not get past step 0; the last: attempt 5 was lost after step 0: loss 5."
    )


def test_losses_after_a_step_are_replaced_at_once_but_not_for_ever(launch: Launch) -> None:
    run, worker = launch()
    for attempt in range(1, 6):
        worker = Worker(run.id, attempt, seq=worker.seq if attempt == 1 else 0)
        worker.state("running")
        worker.step(1)
        lose(worker)
        sweep()
        assert now(run) == (("starting", attempt + 1) if attempt < 5 else ("failed", 5))


def test_a_run_that_ends_in_the_same_message_has_ended(launch: Launch) -> None:
    run, worker = launch()
    lose(worker, {"kind": "state", "data": {"state": "succeeded", "reason": "all steps are done"}})
    sweep()
    assert now(run) == ("succeeded", 1)
    assert Attempt.objects.get(run=run).end_reason == "succeeded"


def test_a_lost_run_that_was_cancelled_is_cancelled(launch: Launch, team: Team, actor: Actor) -> None:
    run, worker = launch()
    cancel_run(team, actor, run.id)
    lose(worker)
    sweep()
    assert now(run) == ("cancelled", 1)


def test_a_lost_run_that_was_paused_stays_paused(launch: Launch, team: Team, actor: Actor) -> None:
    run, worker = launch()
    pause_run(team, actor, run.id)
    worker.state("paused", "asked to pause")
    lose(worker)
    sweep()
    assert (now(run), run.desired_state) == (("starting", 2), "paused")


def test_a_platform_that_was_away_does_not_wait_for_an_attempt_that_has_ended(launch: Launch) -> None:
    run, worker = launch()
    lose(worker)
    Sweep.objects.update(at=F("at") - timedelta(hours=1))
    sweep()
    assert now(run) == ("starting", 2)


@pytest.mark.parametrize("lost", ["", "x" * 501, 5])
def test_a_reason_that_makes_no_sense_is_refused(launch: Launch, lost: Any) -> None:
    run, worker = launch()
    before = Attempt.objects.values().get(run=run)
    lose(worker, lost=lost, status=422)
    assert Attempt.objects.values().get(run=run) == before


def test_the_cluster_is_asked_about_a_worker_that_is_silent(
    launch: Launch, queues: Callable[[str], list[Any]], settings: Any
) -> None:
    run, worker = launch()
    sweep()
    queues("cluster")
    sweep()
    assert queues("cluster") == [], "a worker that syncs is not asked about"
    silence(run, QUIET_S + 1)
    sweep()
    asked = ("worker.tasks.check", {"attempts": [[run.id, 1]], "link_url": settings.LINK_URL})
    assert queues("cluster") == [asked]
    sweep()
    assert queues("cluster") == [], "nor twice in a row"
    Attempt.objects.update(rung_at=F("rung_at") - timedelta(seconds=reconcile.ASK_AGAIN_S + 1))
    sweep()
    assert queues("cluster") == [asked]
    worker.sync()
    Attempt.objects.update(rung_at=None)
    sweep()
    assert queues("cluster") == [] and now(run) == ("running", 1)


def test_a_cluster_is_asked_about_all_of_its_silent_workers_at_once(
    launch: Launch, queues: Callable[[str], list[Any]], settings: Any
) -> None:
    settings.MAX_ACTIVE_RUNS = 3
    runs = [launch(name)[0] for name in ("a", "b", "c")]
    queues("cluster")
    for run in runs[:2]:
        silence(run, QUIET_S + 1)
    sweep()
    [(_, arguments)] = queues("cluster")
    assert arguments["attempts"] == [[run.id, 1] for run in runs[:2]]


def test_nobody_is_asked_about_while_the_platform_was_away(
    launch: Launch, queues: Callable[[str], list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, _ = launch()
    queues("cluster")
    silence(run, 9)
    monkeypatch.setattr(reconcile, "link_answers", lambda: False)
    sweep()
    monkeypatch.setattr(reconcile, "link_answers", lambda: True)
    Sweep.objects.update(at=F("at") - timedelta(hours=1))
    sweep()
    assert queues("cluster") == []


def test_an_attempt_whose_controller_is_dead_is_replaced(launch: Launch, report: Callable[..., Any]) -> None:
    run, worker = launch()
    worker.steps(1, 3)
    silence(run, QUIET_S + 1)
    for status in (200, 200):  # the first answer may be lost
        assert report(run, 1).status_code == status
    sweep()
    assert now(run) == ("starting", 2)
    assert run.state_reason == "Attempt 2: attempt 1 was lost after step 3: its controller died."
    refused = report(run, 1)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "stale_attempt")


def test_an_attempt_that_was_heard_of_is_not_believed_dead(launch: Launch, report: Callable[..., Any]) -> None:
    run, _ = launch()
    before = Attempt.objects.values().get(run=run)
    refused = report(run, 1)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "attempt_lives")
    assert Attempt.objects.values().get(run=run) == before


def test_an_attempt_that_has_not_begun_is_not_believed_dead(
    make_run: Callable[..., Run], report: Callable[..., Any]
) -> None:
    run = make_run(start=True)
    sweep()
    assert report(run, 1).json()["error"]["code"] == "attempt_lives"
    assert now(run) == ("starting", 1)


def test_only_the_cluster_may_report_a_death(launch: Launch, report: Callable[..., Any]) -> None:
    run, worker = launch()
    silence(run, 60)
    assert report(run, 1, secret="another").status_code == 401
    assert report(run, 2).status_code == 404
    path = lost_path(run.id, 1)
    for headers in ({}, {"Authorization": f"Bearer {worker.run_id}"}):
        assert APIClient(headers=headers).post(path, {}, format="json").status_code == 401
    worker.state("succeeded")
    assert report(run, 1).json()["error"]["code"] == "attempt_ended"
    assert now(run) == ("succeeded", 1)
