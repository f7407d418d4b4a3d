"""A new attempt is told whether the weights that it starts from have been evaluated."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.runs.models import Run
from dressage.runs.sweep.reconcile import sweep
from tests.platform.runs.fixtures import Worker, expire_lease, spec_document

Launch = Callable[..., tuple[Run, Worker]]


def evaluate(worker: Worker, step: int) -> None:
    worker.sync({"kind": "eval", "step": step, "data": {"metrics": {"eval/a/score/mean": 0.5}}})


def told(run: Run) -> Any:
    """What the next attempt is told, after the worker was lost."""
    expire_lease(run)
    sweep()
    run.refresh_from_db()
    return Worker(run.id, run.attempt).get("bundle").json()["evaluated"]


def test_a_first_attempt_has_no_evaluation(launch: Launch) -> None:
    assert launch()[1].get("bundle").json()["evaluated"] is False


def test_the_evaluation_at_the_start_is_not_repeated(launch: Launch) -> None:
    run, worker = launch()
    evaluate(worker, 0)
    worker.steps(1, 2)
    assert told(run) is True


@pytest.mark.parametrize("reported", [False, True])
def test_the_evaluation_at_the_checkpoint(launch: Launch, reported: bool) -> None:
    run, worker = launch()
    evaluate(worker, 0)
    worker.steps(1, 4)
    worker.checkpoint(4)
    if reported:
        evaluate(worker, 4)
    assert told(run) is reported


def test_an_evaluation_on_a_line_that_no_longer_counts(launch: Launch) -> None:
    """Attempt 1 has evaluated step 4, and attempt 2 does that step again from the checkpoint after step 2."""
    run, worker = launch()
    worker.steps(1, 2)
    worker.checkpoint(2)
    worker.steps(3, 4)
    evaluate(worker, 4)
    assert told(run) is False
    second = Worker(run.id, run.attempt)
    second.state("running")
    second.steps(3, 4)
    second.checkpoint(4)
    assert told(run) is False
    third = Worker(run.id, run.attempt)
    third.state("running")
    evaluate(third, 4)
    assert told(run) is True


@pytest.mark.parametrize("reported", [False, True])
def test_a_rewind_goes_on_with_what_its_parent_reported(
    launch: Launch, api: Callable[..., APIClient], settings: Any, reported: bool
) -> None:
    settings.MAX_ACTIVE_RUNS = 2
    run, worker = launch()
    operator = api("operator")
    worker.steps(1, 2)
    worker.checkpoint(2)
    if reported:
        evaluate(worker, 2)
    body = {"target": "thinking.budget", "value": 10}
    path = f"/api/v1/runs/{run.id}/controls"
    control = operator.post(path, body, format="json", headers={"If-Match": "0"}).json()["id"]
    worker.sync(applied=[{"control_id": control, "state": "applied", "step": 3}])
    child = operator.post(f"{path}/{control}/rewind").json()["id"]
    operator.post(f"/api/v1/runs/{child}/start")
    sweep()
    assert Worker(child, 1).get("bundle").json()["evaluated"] is reported


def test_a_fork_is_evaluated_at_its_start(launch: Launch, api: Callable[..., APIClient], settings: Any) -> None:
    settings.MAX_ACTIVE_RUNS = 2
    run, worker = launch()
    evaluate(worker, 0)
    worker.steps(1, 2)
    worker.checkpoint(2)
    evaluate(worker, 2)
    body = {"spec": spec_document(schedule={"steps": 4})}
    child = api("operator").post(f"/api/v1/runs/{run.id}/fork", body, format="json").json()["id"]
    api("operator").post(f"/api/v1/runs/{child}/start")
    sweep()
    assert Worker(child, 1).get("bundle").json()["evaluated"] is False
