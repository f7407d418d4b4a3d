"""The effect of a control as the API tells it: from stored points, for the control's team alone."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from dressage.runs.models import Control, Run
from dressage.teams.models import Team
from dressage.telemetry.models import Event
from tests.platform.runs.fixtures import Worker, step_event

Launch = Callable[..., tuple[Run, Worker]]
NOISE = (0.3, -0.1, -0.4, 0.2, 0.1, -0.3, 0.4, -0.2)


def stage(client: APIClient, run: Run, *changes: tuple[str, Any]) -> list[Control]:
    body = {"changes": [{"target": target, "value": value} for target, value in changes]}
    revision = Control.objects.filter(run=run).count()
    answer = client.post(f"/api/v1/runs/{run.id}/controls", body, format="json", headers={"If-Match": str(revision)})
    assert answer.status_code == 202, answer.content
    return [Control.objects.get(pk=one["id"]) for one in answer.json()["data"]]


def settle(worker: Worker, controls: list[Control], applied: int, settled: int | None = None) -> None:
    worker.sync(applied=[{"control_id": one.id, "state": "applied", "step": applied} for one in controls])
    if settled is not None:
        worker.sync(applied=[{"control_id": one.id, "state": "settled", "step": settled} for one in controls])


def learn(worker: Worker, first: int, last: int, length: float) -> None:
    """Steps whose thinking is of this length; the throughput grows all the time, the entropy stays."""
    worker.sync(
        *(
            step_event(
                step,
                **{
                    "thinking/mean": length + NOISE[step % 8],
                    "perf/throughput": 3.0 * step + NOISE[(step + 3) % 8],
                    "actor/entropy": 1.0 + NOISE[(5 * step) % 8],
                    "prompt_length/mean": 9.0,
                },
            )
            for step in range(first, last + 1)
        )
    )


@pytest.fixture
def viewer(api: Callable[..., APIClient]) -> APIClient:
    return api("viewer")


@pytest.fixture
def operator(api: Callable[..., APIClient]) -> APIClient:
    return api("operator")


def ask(client: APIClient, control: Control, status: int = 200) -> Any:
    answer = client.get(f"/api/v1/runs/{control.run_id}/controls/{control.id}/effect")
    assert answer.status_code == status, answer.content
    return answer.json()


def test_an_effect_on_its_way(launch: Launch, operator: APIClient, viewer: APIClient) -> None:
    run, worker = launch()
    learn(worker, 1, 12, 18.0)
    (budget,) = stage(operator, run, ("thinking.budget", 4))
    waiting = ask(viewer, budget)
    assert (waiting["status"], waiting["why"], waiting["before"]) == ("waiting", "It has not taken effect yet.", None)
    settle(worker, [budget], 13)
    assert ask(viewer, budget)["why"] == "Applied at step 13, and settling: batches are mixed."
    learn(worker, 13, 14, 10.0)
    settle(worker, [budget], 13, 15)
    learn(worker, 15, 17, 4.0)
    early = ask(viewer, budget)
    assert (early["status"], early["why"]) == ("early", "Too early: 3 of 8 steps.")
    assert early["targets"][0]["change"] is None
    assert (early["targets"][0]["before"], early["targets"][0]["values_after"]) == (pytest.approx(18.0, abs=0.1), 3)
    assert (early["others"], early["compared"]) == ([], 0)
    learn(worker, 18, 25, 4.0)
    known = ask(viewer, budget)
    assert (known["status"], known["why"], known["controls"]) == ("known", None, [budget.id])
    assert known["before"] == {"first": 1, "last": 12, "steps": 12}
    assert known["after"] == {"first": 15, "last": 25, "steps": 11}
    thinking = known["targets"][0]
    assert (thinking["name"], thinking["title"], thinking["unit"]) == ("thinking/mean", "Thinking", "tokens")
    assert thinking["moved"]
    assert thinking["low"] < -14.0 < thinking["high"] < 0.0
    assert thinking["steps"] == list(range(1, 26))
    # Reward and throughput go on as they went, and the entropy stays: nothing of it is the budget's.
    reward = next(one for one in known["targets"] if one["name"] == "critic/score/mean")
    assert (reward["moved"], reward["after"] > reward["before"]) == (False, True)
    assert (known["others"], known["others_moved"], known["compared"]) == ([], 0, 3)


def test_a_set_is_one_change_and_another_cuts_its_windows(
    launch: Launch, operator: APIClient, viewer: APIClient
) -> None:
    run, worker = launch()
    learn(worker, 1, 10, 18.0)
    together = stage(operator, run, ("thinking.budget", 9), ("optimizer.learning_rate", 1e-5))
    settle(worker, together, 11, 11)
    learn(worker, 11, 30, 9.0)
    (second,) = stage(operator, run, ("rollout.temperature", 0.7))
    settle(worker, [second], 24, 25)
    found = [ask(viewer, one) for one in together]
    assert found[0] == found[1]
    assert found[0]["controls"] == [one.id for one in together]
    assert found[0]["after"] == {"first": 11, "last": 23, "steps": 13}
    assert found[0]["cuts"] == ["Another change at step 24 (revision 3) ends the window after."]
    assert found[0]["status"] == "known"
    later = ask(viewer, second)
    assert (later["before"]["first"], later["status"]) == (11, "early")
    assert "(revision 1) settled at step 11" in later["cuts"][0]


def test_what_cannot_be_said(launch: Launch, operator: APIClient, viewer: APIClient) -> None:
    run, worker = launch()
    learn(worker, 1, 3, 18.0)
    (first,) = stage(operator, run, ("thinking.budget", 9))
    settle(worker, [first], 4, 4)
    learn(worker, 4, 14, 9.0)
    assert (ask(viewer, first)["status"], ask(viewer, first)["why"]) == (
        "never", "Not enough data: 3 of 8 steps before it.",
    )  # fmt: skip
    (second,) = stage(operator, run, ("thinking.budget", 8))
    settle(worker, [second], 15, 15)
    learn(worker, 15, 17, 8.0)
    (third,) = stage(operator, run, ("thinking.budget", 7))
    settle(worker, [third], 18, 18)
    learn(worker, 18, 19, 7.0)
    said = ask(viewer, second)
    assert (said["status"], said["why"]) == (
        "never", "Not enough data: 3 of 8 steps between it and the next change.",
    )  # fmt: skip
    (rejected,) = stage(operator, run, ("thinking.budget", 6))
    worker.sync(applied=[{"control_id": rejected.id, "state": "rejected", "error": "no"}])
    assert ask(viewer, rejected)["why"] == "It never took effect: it is rejected."
    worker.state("failed", error="out of memory")
    assert ask(viewer, third)["status"] == "never"


def test_it_costs_few_queries_and_stores_nothing(launch: Launch, operator: APIClient, viewer: APIClient) -> None:
    run, worker = launch()
    learn(worker, 1, 12, 18.0)
    (budget,) = stage(operator, run, ("thinking.budget", 4))
    settle(worker, [budget], 13, 13)
    learn(worker, 13, 25, 4.0)
    ask(viewer, budget)
    count = Event.objects.count()
    with CaptureQueriesContext(connection) as queries:
        ask(viewer, budget)
    asked = [one["sql"] for one in queries if "telemetry_" in one["sql"] or "runs_" in one["sql"]]
    assert len(asked) <= 7, asked
    assert Event.objects.count() == count


def test_another_team_and_another_run_see_nothing(
    launch: Launch, operator: APIClient, viewer: APIClient, api: Callable[..., APIClient], other_team: Team
) -> None:
    run, _ = launch()
    (budget,) = stage(operator, run, ("thinking.budget", 4))
    assert ask(api("admin", team=other_team), budget, status=404)["error"]["code"] == "not_found"
    unknown = viewer.get(f"/api/v1/runs/{run.id}/controls/ctl_none/effect")
    assert unknown.status_code == 404
