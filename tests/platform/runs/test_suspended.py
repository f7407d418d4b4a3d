"""A paused run gives its place back, with everything that it goes on with in a checkpoint."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.common.api.problems import Problem
from dressage.runs.facts.selectors import run_json
from dressage.runs.life.services import cancel_run, pause_run, release_place, resume_run
from dressage.runs.models import Attempt, CheckpointRequest, Control, Run
from dressage.runs.recovery.releases import RELEASE_LIMIT_S, RELEASING_LIMIT_S, take_places_back
from dressage.runs.steer.staging import stage_control
from dressage.runs.sweep.reconcile import sweep
from dressage.teams.models import AuditEntry, Team
from dressage.telemetry.models import Event, Point
from tests.platform.runs.fixtures import Worker, expire_lease
from tests.support.about import PLATFORM
from trainer_core.link.events import PLACE_GIVEN_BACK

Launch = Callable[..., tuple[Run, Worker]]
Pause = Callable[..., tuple[Run, Worker]]


@pytest.fixture
def paused(launch: Launch, team: Team, actor: Actor) -> Pause:
    """A run that people have paused after step 7, and its worker."""

    def make(name: str = "first") -> tuple[Run, Worker]:
        run, worker = launch(name)
        worker.steps(1, 7)
        worker.checkpoint(5)
        pause_run(team, actor, run.id)
        worker.state("paused", "asked to pause", step=7)
        run.refresh_from_db()
        return run, worker

    return make


def later(run: Run, seconds: float) -> datetime:
    assert run.paused_at is not None
    return run.paused_at + timedelta(seconds=seconds)


def give_back(worker: Worker, step: int = 7) -> None:
    """What a worker does that is asked for its place."""
    worker.checkpoint(step, reason="release")
    worker.state("suspended", PLACE_GIVEN_BACK, step=step)


def rows() -> list[Any]:
    models = (Run, Attempt, Control, CheckpointRequest, Event, AuditEntry)
    return [row for model in models for row in model.objects.order_by("pk").values()]


@pytest.mark.expensive(2, "walks over many requests", about=PLATFORM)
def test_it_keeps_its_place_for_the_stated_time_and_gives_it_back_then(
    paused: Pause, make_run: Callable[..., Run], team: Team, actor: Actor, settings: Any
) -> None:
    settings.PAUSE_KEEPS_PLACE_S = 600
    run, worker = paused()
    waiting = make_run("waits", start=True)
    take_places_back(later(run, 599))
    assert worker.sync()["release_place"] is False
    told = run_json(team, run.id)["pause"]
    assert told is not None
    assert (told["has_place"], told["gives_place_back_at"]) == (
        True,
        later(run, 600).astimezone().isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    )

    take_places_back(later(run, 600))
    take_places_back(later(run, 601))
    assert [worker.sync()["release_place"] for _ in range(2)] == [True, True]
    asked = [
        event for event in Event.objects.filter(run=run, kind="log") if "release of the run's slot" in str(event.data)
    ]
    assert len(asked) == 1
    sweep()
    assert Run.objects.get(pk=waiting.pk).state == "queued", "the place is free only once its worker has ended"

    give_back(worker)
    document = run_json(team, run.id)
    assert (document["state"], document["desired_state"], document["step"]) == ("suspended", "paused", 7)
    assert document["state_reason"] == PLACE_GIVEN_BACK
    assert document["pause"] is not None
    assert (document["pause"]["has_place"], document["pause"]["gives_place_back_at"]) == (False, None)
    assert (worker.repeat()["acked_seq"], worker.sync(status=409)["error"]["code"]) == (worker.seq, "attempt_ended")
    sweep()
    assert Run.objects.get(pk=waiting.pk).state == "starting"

    resume_run(team, actor, run.id)
    sweep()
    queued = run_json(team, run.id)
    assert (queued["state"], queued["pause"]) == ("queued", None)
    assert queued["state_reason"] == "Waiting for a slot: 1 of 1 taken by “waits”; 1st in your queue."
    Worker(waiting.id, 1).state("failed", "x")
    sweep()
    run.refresh_from_db()
    assert (run.state, run.attempt, run.step, run.desired_state) == ("starting", 2, 7, "running")
    second = Worker(run.id, 2)
    assert second.get("bundle").json()["resume"]["step"] == 7
    second.state("running")
    second.steps(8, 40)
    second.state("succeeded", "all steps are done")
    points = Point.objects.filter(series__run=run).values_list("step", flat=True)
    assert set(points) == set(range(1, 41))


def test_a_person_gives_it_back_at_once(paused: Pause, api: Callable[..., APIClient]) -> None:
    run, worker = paused()
    path = f"/api/v1/runs/{run.id}/release"
    assert api("viewer").post(path).status_code == 403
    assert worker.sync()["release_place"] is False
    operator = api("operator")
    assert [operator.post(path).status_code for _ in range(2)] == [202, 202]
    assert AuditEntry.objects.filter(action="run.release").count() == 1
    assert worker.sync()["release_place"] is True
    give_back(worker)
    again = operator.post(path)
    assert (again.status_code, again.json()["state"]) == (202, "suspended")
    assert operator.post(f"/api/v1/runs/{run.id}/pause").json()["state"] == "suspended"


@pytest.mark.parametrize(
    ("own", "shown"),
    [
        ("The reward fell below 0.1.", f"The reward fell below 0.1. {PLACE_GIVEN_BACK}"),
        ("3 rewards could not be computed", f"3 rewards could not be computed. {PLACE_GIVEN_BACK}"),
        ("x" * 2000, "x" * (1998 - len(PLACE_GIVEN_BACK)) + f". {PLACE_GIVEN_BACK}"),
        ("asked to pause", PLACE_GIVEN_BACK),
        ("", PLACE_GIVEN_BACK),
    ],
)
@pytest.mark.parametrize("lost", [False, True])
def test_the_reason_of_the_runs_own_pause_stays(own: str, shown: str, lost: bool, launch: Launch) -> None:
    run, worker = launch()
    worker.steps(1, 3)
    worker.state("paused", own, step=3, data={"state": "paused", "reason": own, "by_request": own == "asked to pause"})
    run.refresh_from_db()
    Run.objects.filter(pk=run.pk).update(desired_state="paused", release_asked_at=timezone.now())
    worker.checkpoint(3)
    if lost:
        expire_lease(run)
        sweep()
    else:
        worker.state("suspended", PLACE_GIVEN_BACK, step=3)
    run.refresh_from_db()
    assert (run.state, run.state_reason) == ("suspended", shown)
    told = Event.objects.filter(run=run, kind="state").latest("seq").data
    assert (told["to"], told["reason"]) == ("suspended", PLACE_GIVEN_BACK)


def test_a_suspended_run_is_resumed_not_started(paused: Pause, api: Callable[..., APIClient]) -> None:
    run, worker = paused()
    release_place(run.team, Actor.system("test"), run.id)
    give_back(worker)
    before = rows()
    refused = api("operator").post(f"/api/v1/runs/{run.id}/start")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "wrong_state")
    assert "resume it" in refused.json()["error"]["message"]
    assert rows() == before


@pytest.mark.parametrize("state", ["draft", "queued", "starting", "running", "failed", "resuming", "cancelling"])
def test_only_a_run_that_stands_paused_gives_back(
    state: str, make_run: Callable[..., Run], paused: Pause, team: Team, actor: Actor
) -> None:
    if state in ("resuming", "cancelling"):
        run, _ = paused()
        (resume_run if state == "resuming" else cancel_run)(team, actor, run.id)
    else:
        run = make_run(start=state != "draft")
        if state not in ("draft", "queued"):
            sweep()
        if state in ("running", "failed"):
            Worker(run.id, 1).state(state)
    before = rows()
    with pytest.raises(Problem, match="only a paused run can release its slot"):
        release_place(team, actor, run.id)
    take_places_back(timezone.now() + timedelta(days=1))
    assert rows() == before


def test_who_resumes_before_the_worker_ends_keeps_the_place(paused: Pause, team: Team, actor: Actor) -> None:
    run, worker = paused()
    take_places_back(later(run, 901))
    assert worker.sync()["release_place"] is True
    resume_run(team, actor, run.id)
    answer = worker.sync()
    assert (answer["release_place"], answer["desired_state"]) == (False, "running")
    worker.state("running", "resumed")
    run.refresh_from_db()
    assert (run.state, run.attempt, run.paused_at, run.release_asked_at) == ("running", 1, None, None)


@pytest.mark.parametrize(("wish", "state"), [(resume_run, "queued"), (cancel_run, "cancelled")])
def test_a_wish_that_crosses_the_workers_end_is_followed(
    wish: Callable[..., None], state: str, paused: Pause, team: Team, actor: Actor
) -> None:
    run, worker = paused()
    take_places_back(later(run, 901))
    wish(team, actor, run.id)
    give_back(worker)
    run.refresh_from_db()
    assert (run.state, Attempt.objects.get(run=run).end_reason) == (state, "suspended")
    if state == "queued":
        sweep()
        assert Attempt.objects.get(run=run, number=2).resume_step == 7


def test_a_worker_that_is_lost_on_the_way_is_not_started_again(paused: Pause, team: Team) -> None:
    run, worker = paused()
    take_places_back(later(run, 901))
    worker.checkpoint(7, reason="release")
    expire_lease(run)
    sweep()
    run.refresh_from_db()
    assert (run.state, run.state_reason, run.attempt) == ("suspended", PLACE_GIVEN_BACK, 1)
    worker.sync(status=409)


def test_what_a_lost_worker_had_not_saved_is_said(paused: Pause) -> None:
    run, _ = paused()
    take_places_back(later(run, 901))
    expire_lease(run)
    sweep()
    run.refresh_from_db()
    assert (run.state, run.attempt) == ("suspended", 1)
    assert run.state_reason == (
        "Its slot was released; attempt 1 was lost before it had saved the run. It continues from step 5."
    )


def test_a_worker_of_before_is_given_up_when_it_has_saved_and_never_without(paused: Pause) -> None:
    """It knows nothing of places: it answers the old request for a checkpoint and stays."""
    run, worker = paused()
    take_places_back(later(run, 901))
    begun = Run.objects.get(pk=run.pk).release_asked_at
    assert begun is not None
    take_places_back(begun + timedelta(seconds=RELEASE_LIMIT_S - 1))
    assert worker.sync()["commands"] == []
    late = begun + timedelta(seconds=RELEASE_LIMIT_S)
    take_places_back(late)
    take_places_back(late)
    [command] = worker.sync()["commands"]
    assert command["type"] == "checkpoint"
    assert Run.objects.get(pk=run.pk).state == "paused"
    worker.checkpoint(7, reason="requested", control_id=command["id"])
    take_places_back(late)
    run.refresh_from_db()
    assert (run.state, run.state_reason) == ("suspended", PLACE_GIVEN_BACK)
    assert Attempt.objects.get(run=run).fenced
    worker.sync(status=409)


def test_a_worker_that_says_it_gives_its_place_back_has_time_for_an_evaluation(paused: Pause) -> None:
    run, worker = paused()
    worker.checkpoint(7)
    take_places_back(later(run, 901))
    begun = Run.objects.get(pk=run.pk).release_asked_at
    assert begun is not None and worker.sync()["release_place"] is True
    for _ in range(2):
        worker.post({**worker.last, "releasing": True})
    said = Attempt.objects.get(run=run).releasing_at
    assert said is not None
    worker.sync()
    before = rows()
    take_places_back(begun + timedelta(seconds=RELEASING_LIMIT_S - 1))
    assert rows() == before
    worker.sync({"kind": "eval", "step": 7, "data": {"metrics": {"eval/held_out/score/mean": 0.5}}})
    assert Attempt.objects.get(run=run).releasing_at == said
    take_places_back(begun + timedelta(seconds=RELEASING_LIMIT_S))
    run.refresh_from_db()
    assert (run.state, Attempt.objects.get(run=run).fenced) == ("suspended", True)


def test_a_new_attempt_must_say_so_itself(paused: Pause, team: Team, actor: Actor) -> None:
    """The workers may have been replaced by older ones since."""
    run, worker = paused()
    release_place(team, actor, run.id)
    worker.sync()
    worker.post({**worker.last, "releasing": True})
    resume_run(team, actor, run.id)
    expire_lease(run)
    sweep()
    second = Worker(run.id, 2)
    second.state("running")
    second.steps(6, 7)
    second.checkpoint(7)
    pause_run(team, actor, run.id)
    second.state("paused", "asked to pause", step=7)
    release_place(team, actor, run.id)
    begun = Run.objects.get(pk=run.pk).release_asked_at
    assert begun is not None
    take_places_back(begun + timedelta(seconds=RELEASE_LIMIT_S))
    assert Run.objects.get(pk=run.pk).state == "suspended"


def test_a_run_that_pauses_by_itself_gives_back_too(launch: Launch, team: Team) -> None:
    run, worker = launch()
    worker.steps(1, 3)
    worker.state("paused", "The reward fell.", step=3)
    run.refresh_from_db()
    take_places_back(later(run, 901))
    assert worker.sync()["release_place"] is True


def test_controls_are_staged_for_a_suspended_run(paused: Pause, team: Team, actor: Actor) -> None:
    run, worker = paused()
    release_place(team, actor, run.id)
    give_back(worker)
    control = stage_control(team, actor, run.id, revision=0, target="thinking.budget", value=10)
    resume_run(team, actor, run.id)
    sweep()
    assert [command["id"] for command in Worker(run.id, 2).sync()["commands"]] == [control.id]


def test_a_suspended_run_is_cancelled_at_once(paused: Pause, team: Team, actor: Actor) -> None:
    run, worker = paused()
    release_place(team, actor, run.id)
    give_back(worker)
    cancel_run(team, actor, run.id)
    run.refresh_from_db()
    assert (run.state, run.suspended_at) == ("cancelled", None)
    sweep()
    assert Attempt.objects.count() == 1


def test_a_worker_that_was_not_paused_cannot_suspend(launch: Launch) -> None:
    run, worker = launch()
    worker.state("suspended", PLACE_GIVEN_BACK)
    run.refresh_from_db()
    assert run.state == "running"
    assert "cannot make it suspended" in Event.objects.filter(run=run).latest("seq").data["message"]
