"""What guards do: marked on the run, changed like people change, rolled back into a child, and never in circles."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.runs.models import Control, Run
from dressage.runs.sweep.reconcile import sweep
from dressage.teams.models import AuditEntry
from dressage.telemetry.models import Event
from tests.platform.runs.fixtures import Worker
from tests.support.about import PLATFORM

Launch = Callable[..., tuple[Run, Worker]]
Api = Callable[..., APIClient]
RATE = "optimizer.learning_rate"
HALVE = {"target": RATE, "multiply": 0.5}
MESSAGE = "actor/entropy is 0.01, below 0.05, for 10 steps"


def guards(action: str, **more: Any) -> list[dict[str, Any]]:
    return [{"name": "entropy collapse", "metric": "actor/entropy", "min": 0.02, "action": action, **more}]


def alert(state: str, step: int, action: str = "alert", since: int = 3, **more: Any) -> dict[str, Any]:
    news = {"guard": "entropy collapse", "state": state, "action": action, "severity": "error", "since": since}
    level = "info" if state == "calm" else "error"
    data = {"level": level, "title": "Guard: entropy collapse", "message": f"{MESSAGE} (step {step})"}
    return {"kind": "alert", "step": step, "data": {**data, "metric": "actor/entropy", "guard": news, **more}}


def health(client: APIClient, run: Run) -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"/api/v1/runs/{run.id}").json()["health"]
    return found


def test_a_finding_lasts_until_its_guard_is_calm(launch: Launch, api: Api) -> None:
    run, worker = launch(guards=guards("alert"))
    viewer = api("viewer")
    assert health(viewer, run) == {"state": "ok", "findings": []}
    worker.steps(1, 12)
    worker.sync(alert("acts", 12))
    finding = {
        "guard": "entropy collapse", "metric": "actor/entropy", "severity": "error", "since": 3, "step": 12,
        "message": f"{MESSAGE} (step 12)", "action": "alert", "outcome": None,
    }  # fmt: skip
    assert health(viewer, run) == {"state": "error", "findings": [finding]}
    (listed,) = viewer.get("/api/v1/runs").json()["data"]
    assert listed["health"]["findings"] == [finding]
    assert listed["state"] == "running"
    worker.sync(alert("calm", 14))
    assert health(viewer, run) == {"state": "ok", "findings": []}
    assert not Control.objects.exists()


def test_a_run_that_ends_collapsed_does_not_look_like_success(launch: Launch, api: Api) -> None:
    run, worker = launch(guards=guards("alert"))
    worker.sync(alert("acts", 3))
    worker.state("succeeded", "all steps are done")
    shown = api("viewer").get(f"/api/v1/runs/{run.id}").json()
    assert (shown["state"], shown["health"]["state"]) == ("succeeded", "error")


def test_a_new_attempt_forgets_what_has_not_happened(launch: Launch, api: Api) -> None:
    run, worker = launch(guards=guards("alert"))
    worker.steps(1, 6)
    worker.checkpoint(4)
    worker.sync(alert("acts", 6, since=5))
    from tests.platform.runs.fixtures import expire_lease

    expire_lease(run)
    sweep()
    assert health(api("viewer"), run)["findings"] == []


def test_a_change_is_a_control_like_those_of_people(launch: Launch, api: Api) -> None:
    run, worker = launch(guards=guards("change", change=HALVE), optimizer={"learning_rate": 1e-4})
    worker.steps(1, 12)
    (command,) = worker.sync(alert("acts", 12, "change"))["commands"]
    assert (command["target"], command["value"], command["apply_at"]) == (RATE, 5e-5, "next")
    operator = api("operator")
    (control,) = operator.get(f"/api/v1/runs/{run.id}/controls").json()["data"]
    assert control["actor"] == "guard:entropy collapse"
    assert (control["before"], control["value"], control["state"]) == (1e-4, 5e-5, "staged")
    assert control["reason"] == f"{MESSAGE} (step 12)"
    assert health(operator, run)["findings"][0]["outcome"] == {"control": control["id"], "run": None, "refused": None}
    entry = AuditEntry.objects.get(action="control.stage")
    assert (entry.actor_kind, entry.actor_name, entry.reason) == ("guard", "entropy collapse", control["reason"])
    assert Event.objects.filter(run_id=run.id, kind="control").count() == 1
    # A person reverts it like any other.
    worker.sync(applied=[{"control_id": control["id"], "state": "settled", "step": 13, "policy_version": 12}])
    back = operator.post(f"/api/v1/runs/{run.id}/controls/{control['id']}/revert", {}, format="json")
    assert (back.status_code, back.json()["value"]) == (202, 1e-4)


@pytest.mark.expensive(4, "walks over many requests", about=PLATFORM)
def test_a_guard_changes_no_more_often_than_it_may(launch: Launch, api: Api) -> None:
    run, worker = launch(guards=guards("change", change=HALVE, at_most=2, cooldown=10))
    applied: list[str] = []

    def act(step: int, state: str = "repeats") -> list[Any]:
        told = [
            command for command in worker.sync(alert(state, step, "change"))["commands"] if command["id"] not in applied
        ]
        for command in told:
            applied.append(command["id"])
            worker.sync(applied=[{"control_id": command["id"], "state": "settled", "step": step + 1}])
        return told

    assert len(act(5, "acts")) == 1
    assert act(9) == [], "it waits its cooldown, whatever the worker says"
    refused = health(api("viewer"), run)["findings"][0]["outcome"]
    assert refused == {
        "control": applied[0],
        "run": None,
        "refused": f"It changed {RATE} at step 6, and waits 10 steps.",
    }
    assert len(act(16)) == 1
    assert act(40) == []
    assert "the maximum" in health(api("viewer"), run)["findings"][0]["outcome"]["refused"]
    assert Control.objects.filter(run=run).count() == 2
    said = Event.objects.filter(run_id=run.id, kind="alert", data__message__startswith="It could not act").count()
    assert said == 2


def test_a_change_that_the_spec_refuses_is_told_and_changes_nothing(launch: Launch, api: Api) -> None:
    change = {"target": "rollout.max_tokens", "multiply": 100}
    run, worker = launch(guards=guards("change", change=change))
    assert worker.sync(alert("acts", 5, "change"))["commands"] == []
    outcome = health(api("viewer"), run)["findings"][0]["outcome"]
    assert outcome["control"] is None and outcome["refused"].startswith("rollout.max_tokens: ")
    assert not Control.objects.filter(run=run).exists()
    run.refresh_from_db()
    assert run.revision == 0


def test_a_pause_is_the_guards(launch: Launch, api: Api) -> None:
    run, worker = launch(guards=guards("pause"))
    worker.sync(alert("acts", 5, "pause"))
    worker.state("paused", f"{MESSAGE} (step 5)", step=5)
    shown = api("viewer").get(f"/api/v1/runs/{run.id}").json()
    assert (shown["state"], shown["desired_state"]) == ("paused", "paused")
    event = Event.objects.filter(run_id=run.id, kind="state").order_by("seq").last()
    assert event is not None and event.data["actor"] == "guard:entropy collapse"
    entry = AuditEntry.objects.get(action="run.pause")
    assert (entry.actor_kind, entry.actor_name) == ("guard", "entropy collapse")
    assert not run.children.exists()


def test_a_roll_back_goes_on_in_a_child_from_before(launch: Launch, api: Api, settings: Any) -> None:
    settings.MAX_ACTIVE_RUNS = 2
    run, worker = launch(guards=guards("roll_back", change=HALVE), optimizer={"learning_rate": 1e-4})
    worker.steps(1, 9)
    worker.checkpoint(4)
    worker.checkpoint(8)
    worker.sync(alert("acts", 9, "roll_back", since=6))
    answer = worker.state("paused", f"{MESSAGE} (step 9)", step=9)
    assert answer["desired_state"] == "paused" and answer["release_place"] is True
    sweep()
    sweep()
    (child,) = Run.objects.exclude(pk=run.pk)
    assert (child.origin_step, child.step, child.continues, child.parent_id) == (4, 4, True, run.id)
    assert child.created_by == "guard:entropy collapse"
    assert child.name == "first (rolled back to step 4)"
    assert child.notes == f"guard:entropy collapse rolled first back: {MESSAGE} (step 9)"
    assert child.spec["optimizer"]["learning_rate"] == 5e-5
    assert child.state == "starting"
    outcome = health(api("viewer"), run)["findings"][0]["outcome"]
    assert outcome == {"control": None, "run": child.id, "refused": None}
    assert set(AuditEntry.objects.filter(actor_kind="guard").values_list("action", flat=True)) == {
        "run.create", "run.pause", "run.start"
    }  # fmt: skip

    # The child collapses as well: its guard may not go round in circles.
    second = Worker(child.id, 1)
    second.state("running")
    second.checkpoint(5)
    second.sync(alert("acts", 12, "roll_back", since=9))
    second.state("paused", f"{MESSAGE} (step 12)", step=12)
    sweep()
    assert Run.objects.count() == 2
    refused = health(api("viewer"), child)["findings"][0]["outcome"]["refused"]
    assert refused == "It has rolled this run back once, the maximum."


def test_a_roll_back_without_a_checkpoint_stays_paused_and_says_so(launch: Launch, api: Api) -> None:
    run, worker = launch(guards=guards("roll_back"))
    worker.steps(1, 6)
    worker.checkpoint(6)
    worker.sync(alert("acts", 6, "roll_back", since=3))
    worker.state("paused", f"{MESSAGE} (step 6)", step=6)
    sweep()
    assert (
        health(api("viewer"), run)["findings"][0]["outcome"]["refused"] == "No checkpoint from before step 3 remains."
    )
    assert Run.objects.count() == 1


def test_guards_are_steered_like_a_knob(launch: Launch, api: Api) -> None:
    run, worker = launch(guards=guards("alert"))
    operator = api("operator")
    muted = guards("pause", muted_until=30)
    path = f"/api/v1/runs/{run.id}/controls"
    body = {"target": "guards", "value": muted, "reason": "a planned restart"}
    made = operator.post(path, body, format="json", headers={"If-Match": "0"})
    assert made.status_code == 202, made.content
    assert [one["muted_until"] for one in made.json()["value"]] == [30]
    assert made.json()["before"][0]["action"] == "alert"
    (command,) = worker.sync()["commands"]
    assert command["value"] == made.json()["value"]
    worker.sync(applied=[{"control_id": command["id"], "state": "settled", "step": 2}])
    run.refresh_from_db()
    assert run.effective_spec["guards"] == made.json()["value"]
    for fault, where in (
        (guards("pause", metric="no/metric"), "no metric is called"),
        ([*muted, *muted], "is used twice"),
        (guards("change", change={"target": "rollout.group_size", "value": 4}), "cannot change during the run"),
        (guards("change", change={"target": "guards", "value": "x"}), "only users can change guards"),
        (guards("change", change={"target": RATE, "value": -1}), "greater than 0"),
        (guards("change", change={"target": "reward.definition", "multiply": 2}), "no number to multiply"),
    ):
        answer = operator.post(path, {"target": "guards", "value": fault}, format="json", headers={"If-Match": "1"})
        assert answer.status_code == 422 and where in answer.json()["detail"] + str(answer.json()["errors"])
    run.refresh_from_db()
    assert run.revision == 1


def test_viewers_change_no_guards(launch: Launch, api: Api) -> None:
    run, _ = launch(guards=guards("alert"))
    body = {"target": "guards", "value": []}
    answer = api("viewer").post(f"/api/v1/runs/{run.id}/controls", body, format="json", headers={"If-Match": "0"})
    assert answer.status_code == 403
    assert not Control.objects.exists()


@pytest.mark.parametrize(
    ("silent_s", "pace", "usual_s", "stuck"),
    [
        # Nothing is known of how long the phase takes.
        (590.0, 1.0, None, None),
        (660.0, 1.0, None, "11 minutes"),
        (660.0, 120.0, None, None),
        # The last steps have been through it.
        (40.0, 1.0, 0.5, None),
        (58.0, 1.0, 0.5, "50 seconds"),
        (58.0, 1.0, 9.0, None),
        (58.0, 9.0, 0.5, None),
        (100.0, 9.0, 9.0, "100 seconds"),
    ],
)
def test_a_run_that_does_not_move_is_stuck(
    launch: Launch, api: Api, silent_s: float, pace: float, usual_s: float | None, stuck: str | None
) -> None:
    run, worker = launch()
    worker.steps(1, 2)
    at = (datetime.now(UTC) - timedelta(seconds=silent_s)).isoformat()
    progress = {"phase": "learn", "done": 0, "total": 0, "step": 2, "at": at}
    times = {} if usual_s is None else {"learn": [usual_s] * 9}
    summary = {"seconds_per_step": pace, "times": times}
    Run.objects.filter(pk=run.pk).update(progress=progress, summary=summary)
    found = health(api("viewer"), run)
    assert (found["state"], len(found["findings"])) == (("error", 1) if stuck else ("ok", 0))
    if stuck:
        message = f"No progress for {stuck} in the phase learn; a step takes {pace:.0f} s."
        assert found["findings"][0]["message"] == message
