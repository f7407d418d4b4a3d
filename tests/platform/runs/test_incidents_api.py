"""Incidents of a run as the API tells them: from what its worker has reported, for its team alone."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from dressage.runs.models import Run
from dressage.runs.sweep.reconcile import sweep
from dressage.teams.models import Team
from dressage.telemetry.models import Event
from tests.platform.runs.fixtures import Worker, expire_lease, step_event
from tests.support.about import PLATFORM

Launch = Callable[..., tuple[Run, Worker]]
Api = Callable[..., APIClient]
GUARD = {"name": "entropy collapse", "metric": "actor/entropy", "min": 0.05, "severity": "error"}


def ask(client: APIClient, run: Run, status: int = 200) -> Any:
    answer = client.get(f"/api/v1/runs/{run.id}/incidents")
    assert answer.status_code == status, answer.content
    return answer.json()


def guard(state: str, step: int, since: int, value: Any = 0.01) -> dict[str, Any]:
    news = {"guard": "entropy collapse", "state": state, "action": "alert", "severity": "error", "since": since}
    data = {"level": "info" if state == "calm" else "error", "title": "Guard: entropy collapse"}
    data |= {"message": f"actor/entropy is {value}", "metric": "actor/entropy", "value": value}
    return {"kind": "alert", "step": step, "data": {**data, "guard": news}}


def alert(code: str, step: int | None, level: str = "warn", message: str = "Why.", **more: Any) -> dict[str, Any]:
    return {
        "kind": "alert",
        "step": step,
        "data": {"level": level, "title": "T", "message": message, "code": code, **more},
    }


def learn(worker: Worker, first: int, last: int, **metrics: Any) -> None:
    worker.sync(*(step_event(step, **metrics) for step in range(first, last + 1)))


def test_a_healthy_run_and_a_draft_have_none(launch: Launch, make_run: Callable[..., Run], api: Api) -> None:
    run, worker = launch()
    learn(worker, 1, 9, **{"actor/entropy": 0.7})
    worker.sync(
        alert("stage", 4, "info"),
        {"kind": "alert", "step": 4, "data": {"level": "warn", "title": "New", "message": "m"}},
    )
    nothing = {"object": "list", "data": [], "open": 0}
    assert ask(api("viewer"), run) == nothing
    assert ask(api("viewer"), make_run("draft")) == nothing


def test_a_guards_finding_becomes_an_incident_with_its_evidence_and_ends(launch: Launch, api: Api) -> None:
    run, worker = launch(guards=[GUARD])
    viewer = api("viewer")
    learn(worker, 1, 10, **{"actor/entropy": 0.7})
    checkpoint = worker.checkpoint(8)
    learn(worker, 11, 14, **{"actor/entropy": 0.01})
    worker.sync(guard("acts", 13, 11))
    told = ask(viewer, run)
    (found,) = told["data"]
    assert told["open"] == 1
    assert (found["key"], found["kind"], found["state"]) == ("entropy-11", "entropy", "open")
    assert (found["since"], found["until"], found["severity"]) == (11, None, "error")
    assert found["evidence"][0] == {
        "metric": "actor/entropy", "title": "Entropy", "unit": "nats", "value": 0.01, "usual": 0.7, "low": 0.05,
        "high": None,
    }  # fmt: skip
    assert found["signs"] == [
        {"source": "guard", "name": "entropy collapse", "severity": "error", "since": 11, "until": None,
         "message": "actor/entropy is 0.01"},
    ]  # fmt: skip
    assert found["checkpoint"] == {"id": run.checkpoints.get().id, "step": 8}
    assert checkpoint.endswith("step-000008-a1")
    assert (found["exception"], found["changes"]) == (None, [])
    learn(worker, 15, 16, **{"actor/entropy": 0.7})
    worker.sync(guard("calm", 16, 11))
    over = ask(viewer, run)
    assert over["open"] == 0
    assert [(one["state"], one["since"], one["until"]) for one in over["data"]] == [("over", 11, 15)]


def test_a_change_shortly_before_is_named(launch: Launch, api: Api) -> None:
    run, worker = launch(guards=[GUARD])
    learn(worker, 1, 10, **{"actor/entropy": 0.7})
    body = {"target": "optimizer.learning_rate", "value": 0.001}
    made = api("operator").post(
        f"/api/v1/runs/{run.id}/controls", body, format="json", headers={"If-Match": str(run.revision)}
    )
    worker.sync(applied=[{"control_id": made.json()["id"], "state": "applied", "step": 10}])
    worker.sync(guard("acts", 13, 11))
    (found,) = ask(api("viewer"), run)["data"]
    assert found["confidence"] == "likely"
    assert "changed optimizer.learning_rate" in found["cause"]
    assert [(one["target"], one["value"], one["step"]) for one in found["changes"]] == [
        ("optimizer.learning_rate", 0.001, 10)
    ]


def test_an_alert_is_told_until_its_metric_is_calm(launch: Launch, api: Api) -> None:
    run, worker = launch()
    learn(worker, 1, 4, **{"reward/error_share": 0.5})
    worker.sync(alert("reward_error", 2, message="4 of this step, excluded from the loss: KeyError: 'answer'"))
    (found,) = ask(api("viewer"), run)["data"]
    assert (found["kind"], found["state"]) == ("reward_errors", "open")
    assert "KeyError: 'answer'" in found["cause"]
    learn(worker, 5, 8, **{"reward/error_share": 0.0})
    (found,) = ask(api("viewer"), run)["data"]
    assert (found["since"], found["until"]) == (2, 4)


def test_an_alert_that_the_worker_ends_is_over(launch: Launch, api: Api) -> None:
    run, worker = launch()
    worker.sync(step_event(1), alert("all_cut", 3), alert("all_cut", 7, "info"))
    (found,) = ask(api("viewer"), run)["data"]
    assert (found["kind"], found["since"], found["until"]) == ("length", 3, 6)


def test_values_that_are_no_numbers(launch: Launch, api: Api) -> None:
    run, worker = launch()
    learn(worker, 1, 5, **{"rollout_corr/k3_kl": 0.001})
    learn(worker, 6, 7, **{"rollout_corr/k3_kl": "NaN"})
    (found,) = ask(api("viewer"), run)["data"]
    assert (found["kind"], found["since"], found["until"]) == ("not_finite", 6, None)
    shown = found["evidence"][0]
    assert (shown["metric"], shown["value"], shown["usual"]) == ("rollout_corr/k3_kl", None, 0.001)


def test_weights_that_differ_until_another_attempt(launch: Launch, api: Api) -> None:
    run, worker = launch()
    learn(worker, 1, 6)
    worker.checkpoint(4)
    message = "1 of 9 tensors in the engine is not as published: lm_head.weight"
    worker.sync(alert("weights_differ", 6, "error", message), guard("acts", 6, 5))
    assert {one["kind"]: one["state"] for one in ask(api("viewer"), run)["data"]}["weights"] == "open"
    expire_lease(run)
    sweep()
    # What the attempt before had learned after step 4 has not happened, its engines' weights were wrong all the same.
    (found,) = ask(api("viewer"), run)["data"]
    assert (found["kind"], found["state"], found["since"]) == ("weights", "over", 6)
    assert message in found["cause"]


def test_a_stuck_run_names_its_phase(launch: Launch, api: Api) -> None:
    run, worker = launch()
    learn(worker, 1, 3)
    run.refresh_from_db()
    at = (datetime.now(UTC) - timedelta(minutes=20)).isoformat()
    run.progress = {"phase": "generate", "done": 3, "total": 8, "step": 4, "at": at, "since": at}
    run.save(update_fields=["progress"])
    (found,) = ask(api("viewer"), run)["data"]
    assert (found["kind"], found["since"]) == ("stuck", 3)
    assert "3 of 8 are done" in found["cause"]
    run.progress = {**run.progress, "at": datetime.now(UTC).isoformat()}
    run.save(update_fields=["progress"])
    assert ask(api("viewer"), run)["data"] == []


def test_a_failed_run_shows_its_exception_once(launch: Launch, api: Api) -> None:
    run, worker = launch()
    learn(worker, 1, 3)
    worker.checkpoint(3)
    detail = (
        'Traceback (most recent call last):\n  File "/app/worker/loop/run.py", line 3, in train\n    f()\n'
        '  File "/srv/mine.py", line 9, in f\n    return {}["x"]\nKeyError: \'x\'\n'
    )
    worker.sync({"kind": "state", "data": {"state": "failed", "reason": "KeyError: 'x'", "detail": detail}})
    (found,) = ask(api("viewer"), run)["data"]
    assert found["checkpoint"]["step"] == 3
    assert (found["kind"], found["cause"], found["state"]) == ("failure", "KeyError: 'x'", "open")
    exception = found["exception"]
    assert (exception["error"], exception["attempt"], exception["node"]) == ("KeyError: 'x'", 1, None)
    assert [(one["file"], one["owner"]) for one in exception["frames"]] == [
        ("/srv/mine.py", "yours"), ("worker/loop/run.py", "platform"),
    ]  # fmt: skip


def test_a_run_that_failed_without_an_exception_has_none(launch: Launch, api: Api) -> None:
    run, worker = launch()
    worker.state("failed", "Row 3 has a prompt of 90 tokens; a prompt may have 1 to 64.")
    (found,) = ask(api("viewer"), run)["data"]
    assert (found["title"], found["exception"]) == ("The run has failed: a prompt is too long", None)


@pytest.mark.expensive(2, "walks over many requests", about=PLATFORM)
def test_it_costs_few_queries_and_stores_nothing(launch: Launch, api: Api) -> None:
    run, worker = launch(guards=[GUARD])
    viewer = api("viewer")
    for step in range(1, 40):
        learn(worker, step, step, **{"actor/entropy": 0.7, "reward/error_share": 0.2})
    for step in range(3, 30, 3):
        worker.sync(guard("acts", step, step), guard("calm", step + 1, step), alert("reward_error", step))
    count = Event.objects.count()
    with CaptureQueriesContext(connection) as queries:
        assert ask(viewer, run)["data"]
    asked = [one["sql"] for one in queries if "telemetry_" in one["sql"] or "runs_" in one["sql"]]
    assert len(asked) <= 8, asked
    assert Event.objects.count() == count


@pytest.mark.parametrize("role", ["viewer", "editor", "operator", "admin"])
def test_every_role_may_look(launch: Launch, api: Api, role: str) -> None:
    run, _ = launch()
    assert ask(api(role), run)["open"] == 0


def test_another_team_sees_nothing(launch: Launch, api: Api, other_team: Team) -> None:
    run, _ = launch()
    assert ask(api("admin", team=other_team), run, status=404)["error"]["code"] == "not_found"
