"""The lifecycle table, exhaustively: what is listed works and is told; all else is refused and changes nothing."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.common.api.problems import Problem
from dressage.runs.life import services
from dressage.runs.life.lifecycle import TransitionRefused, locked, transition
from dressage.runs.models import Run
from dressage.runs.states import FINISHED, TRANSITIONS, By, RunState
from dressage.teams.models import AuditEntry, Team
from dressage.telemetry.models import Event
from tests.platform.runs.fixtures import Worker, spec_document
from tests.support.about import PLATFORM

ALLOWED = {
    ("draft", "queued", "person"),
    ("draft", "cancelled", "person"),
    ("queued", "starting", "platform"),
    ("queued", "failed", "platform"),
    ("queued", "cancelled", "person"),
    ("starting", "running", "worker"),
    ("starting", "paused", "worker"),
    ("starting", "succeeded", "worker"),
    ("starting", "failed", "worker"),
    ("starting", "failed", "platform"),
    ("starting", "cancelled", "worker"),
    ("starting", "cancelled", "platform"),
    ("running", "starting", "platform"),
    ("running", "paused", "worker"),
    ("running", "succeeded", "worker"),
    ("running", "failed", "worker"),
    ("running", "failed", "platform"),
    ("running", "cancelled", "worker"),
    ("running", "cancelled", "platform"),
    ("paused", "starting", "platform"),
    ("paused", "running", "worker"),
    ("paused", "failed", "worker"),
    ("paused", "failed", "platform"),
    ("paused", "cancelled", "worker"),
    ("paused", "cancelled", "platform"),
    ("paused", "suspended", "worker"),
    ("paused", "suspended", "platform"),
    ("suspended", "queued", "person"),
    ("suspended", "queued", "platform"),
    ("suspended", "cancelled", "person"),
    ("suspended", "cancelled", "platform"),
    ("failed", "queued", "person"),
}


def row(run: Run) -> dict[str, Any]:
    return Run.objects.values().get(pk=run.pk)


@pytest.mark.expensive(3, "walks over many requests", about=PLATFORM)
def test_every_transition(make_run: Callable[..., Run], actor: Actor) -> None:
    run = make_run()
    assert set(TRANSITIONS) == set(RunState)
    for before in RunState:
        for after in RunState:
            for by in By:
                Run.objects.filter(pk=run.pk).update(state=before, state_reason="", finished_at=None)
                was, events = row(run), Event.objects.filter(run=run).count()
                with transaction.atomic():
                    held = locked(run.id)
                    if (before, after, by) in ALLOWED:
                        transition(held, after, by=by, actor=actor, reason="because")
                        now = row(run)
                        assert (now["state"], now["state_reason"]) == (after, "because")
                        assert (now["finished_at"] is not None) == (after in FINISHED)
                        told = Event.objects.filter(run=run).latest("seq")
                        assert told.kind == "state"
                        assert told.data == {"from": before, "to": after, "actor": actor.label, "reason": "because"}
                    else:
                        with pytest.raises(TransitionRefused) as refused:
                            transition(held, after, by=by, actor=actor)
                        assert refused.value.status == 409
                        assert row(run) == was
                        assert Event.objects.filter(run=run).count() == events


def test_a_stale_copy_is_refused(make_run: Callable[..., Run], actor: Actor) -> None:
    run, other = make_run(), None
    other = Run.objects.get(pk=run.pk)
    with transaction.atomic():
        transition(run, RunState.QUEUED, by=By.PERSON, actor=actor)
    with pytest.raises(Problem) as refused, transaction.atomic():
        transition(other, RunState.CANCELLED, by=By.PERSON, actor=actor)
    assert (refused.value.status, refused.value.code) == (409, "wrong_state")
    assert row(run)["state"] == "queued"


def test_create_start_cancel(api: Callable[..., APIClient], nouns: object, team: Team) -> None:
    operator = api("operator")
    made = operator.post("/api/v1/runs", {"name": "r", "spec": spec_document()}, format="json").json()
    assert (made["state"], made["step"], made["total_steps"], made["policy"]) == ("draft", 0, 40, "small")
    assert made["effective_spec"] == made["spec"]
    path = f"/api/v1/runs/{made['id']}"
    started = operator.post(f"{path}/start")
    assert (started.status_code, started.json()["state"], started.json()["queue_position"]) == (202, "queued", 1)
    assert started.json()["state_reason"] == "Next in the queue; 0 of 1 slots are taken."
    assert operator.post(f"{path}/start").status_code == 202
    assert operator.post(f"{path}/pause").status_code == 409
    assert operator.post(f"{path}/resume").status_code == 409
    assert operator.post(f"{path}/checkpoint").status_code == 409
    assert operator.post(f"{path}/cancel").json()["state"] == "cancelled"
    assert operator.post(f"{path}/cancel").status_code == 202
    assert operator.post(f"{path}/start").status_code == 409
    acts = AuditEntry.objects.for_team(team).filter(target_id=made["id"]).order_by("number")
    assert [act.action for act in acts] == ["run.create", "run.start", "run.cancel"]
    kinds = Event.objects.filter(run=made["id"]).order_by("seq").values_list("seq", "data__to")
    assert list(kinds) == [(1, "draft"), (2, "queued"), (3, "cancelled")]


def test_pause_and_resume(launch: Callable[..., tuple[Run, Worker]], team: Team, actor: Actor) -> None:
    run, worker = launch()
    services.pause_run(team, actor, run.id)
    assert worker.sync()["desired_state"] == "paused"
    assert row(run)["state"] == "running"
    worker.state("paused", "asked to pause")
    assert (row(run)["state"], row(run)["desired_state"]) == ("paused", "paused")
    services.resume_run(team, actor, run.id)
    assert worker.sync()["desired_state"] == "running"
    worker.state("running", "resumed")
    assert row(run)["state"] == "running"


def test_a_pause_of_its_own_waits_for_a_person(
    launch: Callable[..., tuple[Run, Worker]], team: Team, actor: Actor
) -> None:
    run, worker = launch()
    answer = worker.state("paused", "3 rewards of step 7 could not be computed")
    assert answer["desired_state"] == "paused"
    assert row(run)["state_reason"] == "3 rewards of step 7 could not be computed"
    services.resume_run(team, actor, run.id)
    assert worker.sync()["desired_state"] == "running"


@pytest.mark.parametrize(
    ("data", "desired"),
    [
        ({"reason": "asked to pause", "by_request": True}, "running"),
        ({"reason": "put to sleep", "by_request": True}, "running"),
        ({"reason": "asked to pause", "by_request": False}, "paused"),
        ({"reason": "asked to pause"}, "running"),  # of a worker from before the flag
        ({"reason": "a guard"}, "paused"),
        ({}, "paused"),
    ],
)
def test_a_flag_tells_whose_pause_it_is(
    launch: Callable[..., tuple[Run, Worker]], data: dict[str, Any], desired: str
) -> None:
    run, worker = launch()
    event = {"kind": "state", "data": {"state": "paused", **data}}
    assert worker.sync(event)["desired_state"] == desired
    assert (row(run)["state"], row(run)["state_reason"]) == ("paused", data.get("reason", ""))


def test_a_late_pause_does_not_undo_a_resume(
    launch: Callable[..., tuple[Run, Worker]], team: Team, actor: Actor
) -> None:
    run, worker = launch()
    services.pause_run(team, actor, run.id)
    services.resume_run(team, actor, run.id)
    assert worker.state("paused", "asked to pause")["desired_state"] == "running"


def test_cancel_is_obeyed_by_the_worker(launch: Callable[..., tuple[Run, Worker]], team: Team, actor: Actor) -> None:
    run, worker = launch()
    services.cancel_run(team, actor, run.id)
    with pytest.raises(Problem) as refused:
        services.resume_run(team, actor, run.id)
    assert "being cancelled" in refused.value.detail
    assert worker.sync()["desired_state"] == "cancelled"
    worker.state("cancelled", "cancelled by a person")
    assert row(run)["state"] == "cancelled"
    assert worker.repeat()["acked_seq"] == worker.seq


def test_a_failed_run_can_be_resumed(launch: Callable[..., tuple[Run, Worker]], team: Team, actor: Actor) -> None:
    from dressage.runs.sweep.reconcile import sweep

    run, worker = launch()
    worker.steps(1, 6)
    worker.checkpoint(5)
    worker.state("failed", "disk full", step=6)
    services.resume_run(team, actor, run.id)
    sweep()
    run.refresh_from_db()
    assert (run.state, run.attempt, run.step, run.tokens_total) == ("starting", 2, 5, 50)
    assert Worker(run.id, 2).get("bundle").json()["resume"]["step"] == 5


def test_forbidden_reports_of_a_worker_are_written_down(launch: Callable[..., tuple[Run, Worker]]) -> None:
    run, worker = launch()
    worker.state("paused", "asked to pause", status=200)
    worker.state("succeeded", "all steps are done")
    assert row(run)["state"] == "paused"
    told = Event.objects.filter(run=run).latest("seq")
    assert (told.kind, told.data["level"]) == ("log", "error")
    assert "The run is paused; the worker cannot make it succeeded." in told.data["message"]


def test_rename(api: Callable[..., APIClient], make_run: Callable[..., Run]) -> None:
    run = make_run()
    answer = api("editor").patch(f"/api/v1/runs/{run.id}", {"name": "new", "notes": "n"}, format="json")
    assert (answer.json()["name"], answer.json()["notes"]) == ("new", "n")
    assert api("editor").patch(f"/api/v1/runs/{run.id}", {"name": ""}, format="json").status_code == 422
