"""A wish that the noise between engine and learner be measured again: who may have it, and which attempts obey it."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.common.api.problems import Problem
from dressage.runs.life.services import measure_noise, resume_run
from dressage.runs.models import Run
from dressage.runs.sweep.reconcile import sweep
from dressage.teams.models import AuditEntry, Team
from dressage.telemetry.models import Event
from tests.platform.runs.fixtures import Worker
from tests.support.about import PLATFORM

Launch = Callable[..., tuple[Run, Worker]]


@pytest.fixture
def refused(launch: Launch) -> tuple[Run, Worker]:
    """A run that paused by itself after step 7, and whose checkpoint holds the noise of then."""
    run, worker = launch()
    worker.steps(1, 7)
    worker.checkpoint(7)
    reason = "engine and learner differ"
    worker.state("paused", reason, step=7, data={"state": "paused", "reason": reason, "by_request": False})
    run.refresh_from_db()
    return run, worker


def start_again(run: Run, worker: Worker, team: Team, actor: Actor) -> Worker:
    """The next attempt of a run, once its worker has ended or failed."""
    resume_run(team, actor, run.id)
    worker.state("suspended", "its place was given back")
    sweep()
    run.refresh_from_db()
    assert run.state == "starting"
    return Worker(run.id, run.attempt)


def measures(worker: Worker) -> bool:
    found: bool = worker.get("bundle").json()["measure_noise"]
    return found


@pytest.mark.expensive(2, "walks over many requests", about=PLATFORM)
def test_it_counts_until_a_checkpoint_holds_the_noise_of_a_later_attempt(
    refused: tuple[Run, Worker], api: Callable[..., APIClient], team: Team, actor: Actor
) -> None:
    run, worker = refused
    path = f"/api/v1/runs/{run.id}/measure-noise"
    assert api("viewer").post(path).status_code == 403
    operator = api("operator")
    answers = [operator.post(path) for _ in range(2)]
    assert [(answer.status_code, answer.json()["state"]) for answer in answers] == [(202, "paused")] * 2
    assert measures(worker) is False, "its engines have been judged already"
    [entry] = AuditEntry.objects.filter(action="run.measure_noise")
    assert (entry.before, entry.after) == ({"noise_asked_at": None}, {"noise_asked_at": 1})
    told = [e.data["message"] for e in Event.objects.filter(run=run, kind="log") if "noise" in e.data["message"]]
    [message] = told
    assert message.endswith("requested a recalibration of the numerics noise when the run continues with new engines.")

    second = start_again(run, worker, team, actor)
    assert measures(second) is True
    second.state("running")
    second.state("paused", "again", step=7, data={"state": "paused", "reason": "again", "by_request": False})
    third = start_again(run, second, team, actor)
    assert measures(third) is True, "the only checkpoint is still of the first attempt"
    third.state("running")
    third.step(8)
    third.checkpoint(8)
    third.state("paused", "again", step=8, data={"state": "paused", "reason": "again", "by_request": False})
    assert measures(start_again(run, third, team, actor)) is False, "what the third has measured counts from now on"


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (
            "draft",
            "The run is draft: the numerics noise can be recalibrated only while a run is paused. Pause it first.",
        ),
        (
            "running",
            "The run is running: the numerics noise can be recalibrated only while a run is paused. Pause it first.",
        ),
        ("failed", "The run has no checkpoint yet: it calibrates the numerics noise whenever it starts."),
    ],
)
def test_a_run_that_works_or_has_no_noise_yet_is_refused(
    state: str, reason: str, make_run: Callable[..., Run], team: Team, actor: Actor
) -> None:
    run = make_run(start=state != "draft")
    if state != "draft":
        sweep()
        Worker(run.id, 1).state(state)
    before = rows()
    with pytest.raises(Problem) as caught:
        measure_noise(team, actor, run.id)
    assert (caught.value.status, caught.value.detail, rows()) == (409, reason, before)


def rows() -> list[Any]:
    return [row for model in (Run, Event, AuditEntry) for row in model.objects.order_by("pk").values()]
