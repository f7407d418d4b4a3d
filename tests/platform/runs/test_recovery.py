"""Leases, fencing, the queue and the reconciler."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import redis
from django.db.models import F
from django.db.models.functions import Now
from django.test import TestCase

from dressage.common.actors import Actor
from dressage.runs.life.services import cancel_run, pause_run
from dressage.runs.models import Attempt, Control, Run, Sweep
from dressage.runs.steer.staging import stage_control
from dressage.runs.sweep import reconcile
from dressage.teams.models import Team
from dressage.telemetry.models import Event
from tests.platform.runs.fixtures import Worker, expire_lease
from tests.support.about import PLATFORM

Launch = Callable[..., tuple[Run, Worker]]


@pytest.fixture
def cluster_queue(settings: Any) -> Callable[[], list[tuple[str, dict[str, Any]]]]:
    """Takes the messages (task, arguments) that were sent to the cluster out of the real Redis."""
    client = redis.Redis.from_url(settings.REDIS_URL)
    client.delete("cluster", "platform")

    def take() -> list[tuple[str, dict[str, Any]]]:
        found = []
        while (raw := client.rpop("cluster")) is not None:
            message = json.loads(raw)
            body = json.loads(__import__("base64").b64decode(message["body"]))
            found.append((message["headers"]["task"], body[1]))
        return found

    return take


def sweep() -> None:
    with TestCase.captureOnCommitCallbacks(execute=True):
        reconcile.sweep()


def facts() -> list[Any]:
    hidden = {"lease_expires_at", "rung_at", "updated_at"}
    models = (Run, Attempt, Control, Event)
    rows = [row for model in models for row in model.objects.order_by("pk").values()]
    return [{key: value for key, value in row.items() if key not in hidden} for row in rows]


def test_start_rings_the_cluster_until_it_answers(make_run: Callable[..., Run], cluster_queue: Any) -> None:
    run = make_run(start=True)
    sweep()
    [(task, arguments)] = cluster_queue()
    assert task == "worker.tasks.start"
    assert arguments == {
        "run_id": run.id,
        "attempt": 1,
        "link_url": "http://127.0.0.1:8600",
    }
    sweep()
    assert cluster_queue() == []
    Attempt.objects.update(rung_at=F("rung_at") - timedelta(seconds=11))
    sweep()
    assert cluster_queue() == [(task, arguments)]
    Worker(run.id, 1).state("starting")
    Attempt.objects.update(rung_at=F("rung_at") - timedelta(seconds=11))
    sweep()
    assert cluster_queue() == []


def test_a_run_whose_plugin_is_gone_fails_and_does_not_hold_up_the_queue(
    make_run: Callable[..., Run], cluster_queue: Any
) -> None:
    gone, waiting = make_run(start=True), make_run(start=True)
    Run.objects.filter(pk=gone.pk).update(spec={**gone.spec, "loss": {"type": "brought_by_a_package"}})
    sweep()
    gone.refresh_from_db()
    waiting.refresh_from_db()
    assert gone.state == "failed" and "'brought_by_a_package'" in gone.state_reason
    assert waiting.state == "starting" and len(cluster_queue()) == 1


def test_a_lost_lease_makes_a_new_attempt(launch: Launch, cluster_queue: Any) -> None:
    run, first = launch()
    first.steps(1, 12)
    first.checkpoint(10)
    cluster_queue()
    expire_lease(run)
    sweep()
    run.refresh_from_db()
    assert (run.state, run.attempt, run.step) == ("starting", 2, 10)
    assert run.state_reason == "Attempt 2: attempt 1 lost its lease after step 12."
    sent = cluster_queue()
    assert [(task, arguments["attempt"]) for task, arguments in sent] == [
        ("worker.tasks.stop", 1),
        ("worker.tasks.start", 2),
    ]
    before = facts()
    answer = first.state("running", status=409)
    assert answer["error"]["code"] == "stale_attempt"
    first.get("bundle", 409)
    first.get("datasets/sums@1", 409)
    assert facts() == before
    second = Worker(run.id, 2)
    resume = second.get("bundle").json()["resume"]
    assert (resume["step"], Path(resume["path"]).name) == (10, "step-000010-a1")
    second.state("running")
    second.steps(11, 40)
    second.state("succeeded", "all steps are done")
    run.refresh_from_db()
    assert (run.state, run.step) == ("succeeded", 40)


def test_a_damaged_checkpoint_is_passed_over(launch: Launch) -> None:
    run, worker = launch()
    worker.steps(1, 12)
    worker.checkpoint(5)
    for damaged in (worker.checkpoint(8), worker.checkpoint(10)):
        (Path(damaged) / "manifest.json").write_text("{}")
    expire_lease(run)
    sweep()
    assert Attempt.objects.get(number=2).resume_step == 5


def test_attempts_without_progress_end_the_run(launch: Launch) -> None:
    run, worker = launch()
    worker.steps(1, 12)
    worker.checkpoint(10)
    for _ in range(5):
        expire_lease(run)
        sweep()
        run.refresh_from_db()
        Worker(run.id, run.attempt).state("running")
    assert (run.attempt, run.state) == (6, "starting")
    expire_lease(run)
    sweep()
    run.refresh_from_db()
    assert (run.attempt, run.state) == (6, "failed")
    assert run.state_reason.startswith("5 attempts did not get past step 10; the last: attempt 6 lost its lease")
    Worker(run.id, 6).sync(status=409)


@pytest.mark.expensive(2, "walks over many requests", about=PLATFORM)
def test_progress_starts_the_count_anew(launch: Launch) -> None:
    run, worker = launch()
    for round_number in range(1, 8):
        worker.steps(round_number, round_number)
        worker.checkpoint(round_number)
        expire_lease(run)
        sweep()
        run.refresh_from_db()
        assert (run.state, run.attempt, run.step) == ("starting", round_number + 1, round_number)
        worker = Worker(run.id, run.attempt)
        worker.state("running")


def test_sweeping_twice_is_sweeping_once(launch: Launch, make_run: Callable[..., Run], cluster_queue: Any) -> None:
    run, worker = launch()
    make_run("waits", start=True)
    worker.steps(1, 3)
    expire_lease(run)
    sweep()
    cluster_queue()
    before = facts()
    for _ in range(3):
        sweep()
    assert facts() == before
    assert cluster_queue() == []


def test_one_broken_run_does_not_stop_the_others(
    launch: Launch, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MAX_ACTIVE_RUNS = 2
    broken, _ = launch("broken")
    other, _ = launch("other")
    replace = reconcile.replace

    def fail(run: Run, attempt: Attempt, why: str) -> None:
        if run.id == broken.id:
            raise RuntimeError("boom")
        replace(run, attempt, why)

    monkeypatch.setattr(reconcile, "replace", fail)
    for run in (broken, other):
        expire_lease(run)
    sweep()
    assert [Run.objects.get(pk=run.pk).attempt for run in (broken, other)] == [1, 2]


def test_queue_order(make_run: Callable[..., Run], team: Team, actor: Actor) -> None:
    from dressage.runs.facts.selectors import run_json

    runs = [make_run(name, start=True) for name in ("a", "b", "c")]
    sweep()

    def now() -> list[tuple[str, int | None]]:
        documents = [run_json(team, run.id) for run in runs]
        return [(document["state"], document["queue_position"]) for document in documents]

    assert now() == [("starting", None), ("queued", 1), ("queued", 2)]
    reasons = [run_json(team, run.id)["state_reason"] for run in runs[1:]]
    assert reasons == [f"Waiting for a slot: 1 of 1 taken by “a”; {word} in your queue." for word in ("1st", "2nd")]
    cancel_run(team, actor, runs[1].id)
    sweep()
    assert now() == [("starting", None), ("cancelled", None), ("queued", 1)]
    Worker(runs[0].id, 1).state("failed", "x")
    sweep()
    assert now() == [("failed", None), ("cancelled", None), ("starting", None)]


def test_a_policy_that_vanished_fails_with_a_reason(make_run: Callable[..., Run], nouns: Path) -> None:
    run = make_run(start=True)
    (nouns / "config.json").unlink()
    sweep()
    run.refresh_from_db()
    assert (run.state, run.attempt) == ("failed", 0)
    assert run.state_reason == "The folder of the policy 'small' no longer exists."


def test_a_cancellation_that_is_not_obeyed(launch: Launch, team: Team, actor: Actor, cluster_queue: Any) -> None:
    run, worker = launch()
    cancel_run(team, actor, run.id)
    sweep()
    assert Run.objects.get(pk=run.pk).state == "running"
    Run.objects.update(desired_since=F("desired_since") - timedelta(seconds=31))
    cluster_queue()
    sweep()
    assert Run.objects.get(pk=run.pk).state == "cancelled"
    assert cluster_queue() == [("worker.tasks.stop", {"run_id": run.id, "attempt": 1})]
    worker.sync(status=409)


def test_a_cancelled_run_that_dies_is_cancelled(launch: Launch, team: Team, actor: Actor) -> None:
    run, _ = launch()
    cancel_run(team, actor, run.id)
    expire_lease(run)
    sweep()
    run.refresh_from_db()
    assert (run.state, run.attempt) == ("cancelled", 1)


def test_a_paused_run_that_dies_stays_paused(launch: Launch, team: Team, actor: Actor) -> None:
    run, worker = launch()
    pause_run(team, actor, run.id)
    worker.state("paused", "asked to pause")
    expire_lease(run)
    sweep()
    run.refresh_from_db()
    assert (run.state, run.attempt, run.desired_state) == ("starting", 2, "paused")
    assert Worker(run.id, 2).sync()["desired_state"] == "paused"


def test_a_platform_that_was_away_blames_nobody(launch: Launch) -> None:
    run, worker = launch()
    expire_lease(run)
    Sweep.objects.update(at=F("at") - timedelta(hours=1))
    sweep()
    assert Run.objects.get(pk=run.pk).attempt == 1
    assert Attempt.objects.filter(lease_expires_at__gt=Now() + timedelta(seconds=28)).exists()
    worker.steps(1, 3)
    expire_lease(run)
    sweep()
    assert Run.objects.get(pk=run.pk).attempt == 2


def test_a_web_server_that_is_away_blames_nobody(
    launch: Launch, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    run, _ = launch()
    monkeypatch.undo()
    settings.LINK_URL = "http://127.0.0.1:9"  # discard: nothing listens there
    expire_lease(run)
    Attempt.objects.update(last_sync_at=Now() - timedelta(seconds=20))
    sweep()
    assert Run.objects.get(pk=run.pk).attempt == 1
    monkeypatch.setattr(reconcile, "link_answers", lambda: True)
    expire_lease(run)
    sweep()
    assert Run.objects.get(pk=run.pk).attempt == 2


def test_a_worker_that_keeps_the_pace_it_was_asked_for_is_not_silent(
    launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    launch()
    asked: list[int] = []
    monkeypatch.setattr(reconcile, "link_answers", lambda: not asked.append(1))
    monkeypatch.setattr(reconcile, "pace", SimpleNamespace(seconds=lambda: 8.0))
    for silent, looks in ((12, 0), (14, 1)):
        Attempt.objects.update(last_sync_at=Now() - timedelta(seconds=silent))
        sweep()
        assert len(asked) == looks


def test_the_link_answers(live_server: Any, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    settings.LINK_URL = live_server.url
    assert reconcile.link_answers()


def test_an_attempt_that_never_answers_is_replaced(make_run: Callable[..., Run]) -> None:
    run = make_run(start=True)
    sweep()
    Attempt.objects.update(created_at=F("created_at") - timedelta(seconds=301))
    Run.objects.update(queued_at=F("queued_at") - timedelta(seconds=302))
    sweep()
    run.refresh_from_db()
    assert (run.state, run.attempt) == ("starting", 2)
    assert Event.objects.filter(run=run).latest("seq").data["title"] == "New attempt"


def test_controls_of_lost_steps_take_effect_again(launch: Launch, team: Team, actor: Actor) -> None:
    run, worker = launch()
    made = [
        stage_control(team, actor, run.id, revision=n, target="thinking.budget", value=value)
        for n, value in enumerate((10, 12, 14))
    ]
    for control, step in zip(made, (3, 7, 7), strict=True):
        worker.sync(applied=[{"control_id": control.id, "state": "applied", "step": step, "group": f"{step}-0"}])
    worker.steps(1, 8)
    worker.checkpoint(5)
    worker.sync(applied=[{"control_id": control.id, "state": "settled", "step": 8} for control in made])
    run.refresh_from_db()
    assert run.effective_spec["thinking"]["budget"] == 14
    expire_lease(run)
    sweep()
    run.refresh_from_db()
    assert run.effective_spec["thinking"]["budget"] == 10
    assert run.revision == 3
    assert list(Control.objects.order_by("revision").values_list("state", "apply_at", "applied_step")) == [
        ("settled", None, 3),
        ("staged", 7, None),
        ("staged", 7, None),
    ]
    second = Worker(run.id, 2)
    bundle = second.get("bundle").json()
    assert (bundle["spec"]["thinking"]["budget"], bundle["revision"]) == (10, 1)
    assert [command["apply_at"] for command in second.sync()["commands"]] == [7, 7]
    reports = [{"control_id": control.id, "state": "applied", "step": 7, "group": "7-0"} for control in made[1:]]
    second.sync(applied=reports)
    run.refresh_from_db()
    assert run.effective_spec["thinking"]["budget"] == 14
