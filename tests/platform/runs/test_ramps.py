"""Ramps: staged like any control, valid at both ends, moved with the run's steps, ended by what comes later."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.runs.models import Control, Run
from dressage.runs.sweep.reconcile import sweep
from tests.platform.runs.fixtures import Worker, expire_lease

Launch = Callable[..., tuple[Run, Worker]]
TEMPERATURE = "rollout.temperature"


class Steer:
    """An operator's client for the controls of one run."""

    def __init__(self, client: APIClient, run: Run) -> None:
        self.client, self.run, self.path = client, run, f"/api/v1/runs/{run.id}/controls"

    def post(self, target: str, value: Any, status: int = 202, **more: Any) -> Any:
        match = str(Run.objects.get(pk=self.run.pk).revision)
        body = {"target": target, "value": value, **more}
        response = self.client.post(self.path, body, format="json", headers={"If-Match": match})
        assert response.status_code == status, response.content
        return response.json()

    @property
    def temperature(self) -> float:
        return round(Run.objects.get(pk=self.run.pk).effective_spec["rollout"]["temperature"], 6)


@pytest.fixture
def steered(launch: Launch, api: Callable[..., APIClient]) -> tuple[Run, Worker, Steer]:
    run, worker = launch()
    return run, worker, Steer(api("operator"), run)


def report(control: dict[str, Any], state: str, step: int) -> dict[str, Any]:
    return {"control_id": control["id"], "state": state, "step": step, "policy_version": step - 1}


def test_the_worker_is_told_of_the_ramp_and_the_spec_follows_it(steered: tuple[Run, Worker, Steer]) -> None:
    _, worker, steer = steered
    made = steer.post(TEMPERATURE, 0.6, ramp_steps=4, reason="cooler")
    assert (made["ramp_steps"], made["state"], made["before"], made["value"]) == (4, "staged", 1.0, 0.6)
    (command,) = worker.sync()["commands"]
    assert command["ramp"] == {"before": 1.0, "steps": 4}
    assert steer.temperature == 1.0
    worker.sync(applied=[report(made, "applied", 1)])
    assert steer.temperature == 0.9, "the first step moves it"
    seen = []
    for step in (1, 2, 3):
        worker.step(step)
        seen.append(steer.temperature)
    assert seen == [0.8, 0.7, 0.6]
    worker.sync(applied=[report(made, "settled", 4)])
    worker.step(4)
    assert steer.temperature == 0.6
    assert Control.objects.get(pk=made["id"]).state == "settled"


def test_a_plain_control_has_no_ramp(steered: tuple[Run, Worker, Steer]) -> None:
    _, worker, steer = steered
    assert steer.post(TEMPERATURE, 0.6, ramp_steps=None)["ramp_steps"] is None
    assert "ramp" not in worker.sync()["commands"][0]


@pytest.mark.parametrize(
    ("target", "value", "more", "pointer", "words"),
    [
        (TEMPERATURE, -1, {"ramp_steps": 4}, "/value", "greater than 0"),
        (TEMPERATURE, 0.6, {"ramp_steps": 1}, "/ramp_steps", "greater than or equal to 2"),
        (TEMPERATURE, 0.6, {"ramp_steps": 41}, "/ramp_steps", "would end at step 41, but the run ends at 40"),
        (TEMPERATURE, 0.6, {"ramp_steps": 4, "apply_at": 38}, "/ramp_steps", "would end at step 41"),
        ("thinking.budget", None, {"ramp_steps": 4}, "/value", "only numbers can be ramped"),
        (TEMPERATURE, 1.0, {"ramp_steps": 4}, "/value", "is 1.0 already"),
    ],
)
def test_what_cannot_be_ramped(
    steered: tuple[Run, Worker, Steer], target: str, value: Any, more: dict[str, Any], pointer: str, words: str
) -> None:
    run, worker, steer = steered
    problem = steer.post(target, value, 422, **more)
    assert problem["errors"][0]["pointer"] == pointer
    assert words in problem["errors"][0]["detail"]
    assert (Control.objects.count(), Run.objects.get(pk=run.pk).revision, worker.sync()["commands"]) == (0, 0, [])


def test_what_would_keep_a_ramp_from_its_end_is_refused(steered: tuple[Run, Worker, Steer]) -> None:
    _, worker, steer = steered
    made = steer.post("thinking.budget", 30, ramp_steps=10)
    worker.sync(applied=[report(made, "applied", 1)])
    problem = steer.post("rollout.max_tokens", 28, 422)
    assert "The ramp of thinking.budget could not reach its end" in problem["errors"][0]["detail"]
    assert Control.objects.count() == 1
    steer.post("rollout.max_tokens", 31)


def test_a_later_control_ends_it_and_a_revert_is_one(steered: tuple[Run, Worker, Steer]) -> None:
    _, worker, steer = steered
    ramp = steer.post(TEMPERATURE, 0.6, ramp_steps=4)
    worker.sync(applied=[report(ramp, "applied", 1)])
    worker.step(1)
    back = steer.client.post(f"{steer.path}/{ramp['id']}/revert", {}, format="json").json()
    assert (back["value"], back["reverts"], back["ramp_steps"]) == (1.0, ramp["id"], None)
    worker.sync(applied=[report(back, "applied", 2), report(ramp, "settled", 2)])
    assert steer.temperature == 1.0
    worker.step(2)
    assert steer.temperature == 1.0


def test_where_it_is_now_can_be_kept(steered: tuple[Run, Worker, Steer]) -> None:
    _, worker, steer = steered
    ramp = steer.post(TEMPERATURE, 0.6, ramp_steps=4)
    worker.sync(applied=[report(ramp, "applied", 1)])
    kept = steer.post(TEMPERATURE, 0.9)
    worker.sync(applied=[report(kept, "applied", 2), report(ramp, "settled", 2)])
    assert steer.temperature == 0.9


def test_a_worker_that_knows_no_ramps_has_the_end_at_once(steered: tuple[Run, Worker, Steer]) -> None:
    _, worker, steer = steered
    ramp = steer.post(TEMPERATURE, 0.6, ramp_steps=20)
    worker.sync(applied=[report(ramp, "applied", 1), report(ramp, "settled", 1)])
    assert steer.temperature == 0.6


def test_a_new_attempt_goes_on_with_it(steered: tuple[Run, Worker, Steer]) -> None:
    run, worker, steer = steered
    ramp = steer.post(TEMPERATURE, 0.6, ramp_steps=4)
    worker.sync(applied=[report(ramp, "applied", 1)])
    worker.steps(1, 2)
    worker.checkpoint(2)
    worker.sync({"kind": "log", "data": {"level": "info", "message": "m"}}, applied=[report(ramp, "settled", 4)])
    worker.steps(3, 4)
    assert steer.temperature == 0.6
    expire_lease(run)
    sweep()
    run.refresh_from_db()
    assert run.attempt == 2
    assert steer.temperature == 0.7, "as step 3 has it, which comes next"
    assert Control.objects.get(pk=ramp["id"]).state == "applied"
    bundle = Worker(run.id, 2).get("bundle").json()
    assert bundle["ramps"] == [
        {
            "control_id": ramp["id"], "revision": 1, "target": TEMPERATURE, "before": 1.0, "value": 0.6, "steps": 4,
            "boundary": "group_dispatch", "first_step": 1,
        }
    ]  # fmt: skip
    assert round(bundle["spec"]["rollout"]["temperature"], 6) == 0.7
