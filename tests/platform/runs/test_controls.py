"""Controls: staged, applied, settled; rejected, cancelled, reverted, rewound; never over someone else's change."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.runs.models import Control, Run
from dressage.runs.states import CONTROL_TRANSITIONS, By, ControlState, control_may_move
from dressage.teams.models import AuditEntry, Team
from dressage.telemetry.models import Event
from tests.platform.runs.fixtures import Worker

Launch = Callable[..., tuple[Run, Worker]]


class Steer:
    """An operator's client for the controls of one run."""

    def __init__(self, client: APIClient, run: Run) -> None:
        self.client, self.path = client, f"/api/v1/runs/{run.id}/controls"

    def post(self, target: str, value: Any, match: str | None, status: int = 202, **more: Any) -> Any:
        headers = {} if match is None else {"If-Match": match}
        body = {"target": target, "value": value, **more}
        response = self.client.post(self.path, body, format="json", headers=headers)
        assert response.status_code == status, response.content
        return response.json()

    def act(self, control: dict[str, Any], act: str, status: int, **headers: str) -> Any:
        response = self.client.post(f"{self.path}/{control['id']}/{act}", {}, format="json", headers=headers)
        assert response.status_code == status, response.content
        return response.json()


@pytest.fixture
def steered(launch: Launch, api: Callable[..., APIClient]) -> tuple[Run, Worker, Steer]:
    run, worker = launch()
    return run, worker, Steer(api("operator"), run)


def report(control: dict[str, Any], state: str, step: int, **more: Any) -> dict[str, Any]:
    return {"control_id": control["id"], "state": state, "step": step, "policy_version": step - 1, **more}


def test_the_table_of_controls() -> None:
    allowed = {
        (before, after, by)
        for before in ControlState
        for after in ControlState
        for by in By
        if control_may_move(before, after, by)
    }
    assert set(CONTROL_TRANSITIONS) == set(ControlState)
    assert allowed == {
        ("staged", "applied", "worker"),
        ("staged", "settled", "worker"),
        ("staged", "rejected", "worker"),
        ("staged", "cancelled", "person"),
        ("staged", "cancelled", "platform"),
        ("applied", "settled", "worker"),
        ("applied", "staged", "platform"),
        ("settled", "staged", "platform"),
        ("settled", "applied", "platform"),
        ("cancelled", "applied", "worker"),
        ("cancelled", "settled", "worker"),
        ("rejected", "applied", "worker"),
        ("rejected", "settled", "worker"),
    }


def test_from_staged_to_settled(steered: tuple[Run, Worker, Steer], team: Team) -> None:
    run, worker, steer = steered
    made = steer.post("thinking.budget", 10, '"0"', reason="shorter")
    assert (made["revision"], made["state"], made["before"], made["apply_at"]) == (1, "staged", 20, "next")
    command = {
        "id": made["id"], "type": "control", "revision": 1, "target": "thinking.budget", "value": 10, "apply_at": "next"
    }  # fmt: skip
    assert worker.sync()["commands"] == [command]
    assert Run.objects.get(pk=run.pk).effective_spec["thinking"]["budget"] == 20
    assert worker.sync(applied=[report(made, "applied", 5, group="5-0")])["commands"] == []
    assert Run.objects.get(pk=run.pk).effective_spec["thinking"]["budget"] == 10
    worker.sync(applied=[report(made, "settled", 6)])
    before = Event.objects.count()
    worker.sync(applied=[report(made, "applied", 5, group="5-0"), report(made, "settled", 6)])
    assert Event.objects.count() == before
    now = steer.client.get(steer.path).json()["data"][0]
    assert (now["state"], now["applied_step"], now["applied_group"], now["settled_step"]) == ("settled", 5, "5-0", 6)
    told = Event.objects.filter(kind="control").order_by("seq").values_list("data", flat=True)
    assert [event["control"]["state"] for event in told] == ["staged", "applied", "settled"]
    entry = AuditEntry.objects.for_team(team).get(action="control.stage")
    assert (entry.target_id, entry.reason) == (made["id"], "shorter")
    assert entry.after == {"run": run.id, "target": "thinking.budget", "value": 10, "revision": 1}
    assert entry.before["value"] == 20


def test_if_match(steered: tuple[Run, Worker, Steer]) -> None:
    _, _, steer = steered
    assert steer.post("thinking.budget", 10, None, 428)["error"]["code"] == "revision_required"
    assert steer.post("thinking.budget", 10, "*", 428)["status"] == 428
    first = steer.post("thinking.budget", 10, "0")
    steer.post("optimizer.learning_rate", 1e-5, 'W/"1"')
    stale = steer.post("thinking.budget", 11, '"0"', 412)
    assert (stale["error"]["code"], stale["revision"]) == ("stale_revision", 2)
    assert [(change["target"], change["value"]) for change in stale["changes"]] == [
        ("thinking.budget", 10),
        ("optimizer.learning_rate", 1e-5),
    ]
    assert stale["changes"][0] == steer.client.get(steer.path).json()["data"][1] == first
    assert "operator-0@example.com changed optimizer.learning_rate to 1e-05" in stale["detail"]
    assert steer.post("thinking.budget", 11, '"9"', 412)["changes"] == []
    assert Control.objects.count() == 2
    run = steer.client.get(steer.path.removesuffix("/controls"))
    assert (run["ETag"], run.json()["revision"]) == ('"2"', 2)


@pytest.mark.parametrize(
    ("target", "value", "more", "pointer"),
    [
        ("thinking.budget", 32, {}, "/value"),  # never applies: max_tokens is 32
        ("thinking.budget", -1, {}, "/value"),
        ("thinking.budget", "many", {}, "/value"),
        ("thinking.budget", 20, {}, "/value"),  # is 20 already
        ("schedule.steps", 50, {}, "/target"),
        ("no.such.field", 1, {}, "/target"),
        ("data.sources.none.weight", 1, {}, "/target"),
        ("kl.coefficient", 0.1, {}, "/value"),
        ("thinking.budget", 10, {"apply_at": 41}, "/apply_at"),
        ("thinking.budget", 10, {"apply_at": 0}, "/apply_at"),
        ("thinking.budget", 10, {"apply_at": "later"}, "/apply_at"),
        ("thinking.budget", {"a": [1]}, {}, "/value"),
    ],
)
def test_bad_controls(
    steered: tuple[Run, Worker, Steer], target: str, value: Any, more: dict[str, Any], pointer: str
) -> None:
    run, _, steer = steered
    problem = steer.post(target, value, "0", 422, **more)
    assert [error["pointer"] for error in problem["errors"]] == [pointer]
    run.refresh_from_db()
    assert (Control.objects.count(), run.revision) == (0, 0)


def test_each_is_checked_on_top_of_the_staged_ones(steered: tuple[Run, Worker, Steer]) -> None:
    _, _, steer = steered
    steer.post("data.sources.add.weight", 0.0, "0")
    problem = steer.post("data.sources.more.weight", 0.0, "1", 422)
    assert "at least one source needs a weight above zero" in problem["detail"]
    targets = steer.client.get(steer.path.replace("controls", "targets")).json()
    values = {target["path"]: target["value"] for target in targets["data"]}
    assert (values["data.sources.add.weight"], targets["revision"]) == (0.0, 1)


def test_apply_at(steered: tuple[Run, Worker, Steer]) -> None:
    _, worker, steer = steered
    worker.steps(1, 5)
    assert steer.post("thinking.budget", 10, "0", 422, apply_at=5)["errors"][0]["pointer"] == "/apply_at"
    assert steer.post("thinking.budget", 10, "0", apply_at=6)["apply_at"] == 6
    assert worker.sync()["commands"][0]["apply_at"] == 6


def test_rejected_by_the_worker(steered: tuple[Run, Worker, Steer]) -> None:
    run, worker, steer = steered
    made = steer.post("rollout.max_tokens", 90, "0")
    worker.sync(applied=[report(made, "rejected", 3, error="the longest prompt has 30 tokens")])
    now = steer.client.get(steer.path).json()["data"][0]
    assert (now["state"], now["error"], now["applied_step"]) == ("rejected", "the longest prompt has 30 tokens", None)
    assert Run.objects.get(pk=run.pk).effective_spec["rollout"]["max_tokens"] == 32
    steer.act(made, "cancel", 409)
    steer.act(made, "revert", 409)
    steer.act(made, "rewind", 409)


def test_cancelled(steered: tuple[Run, Worker, Steer]) -> None:
    _, worker, steer = steered
    made = steer.post("thinking.budget", 10, "0")
    assert steer.act(made, "cancel", 200)["state"] == "cancelled"
    assert steer.act(made, "cancel", 200)["state"] == "cancelled"
    assert worker.sync()["commands"] == []
    other = steer.post("thinking.budget", 11, "1")
    assert other["before"] == 20
    worker.sync(applied=[report(other, "applied", 2)])
    assert steer.act(other, "cancel", 409)["detail"] == "The control is applied; revert it instead."


def test_a_cancellation_that_came_too_late_says_so(steered: tuple[Run, Worker, Steer]) -> None:
    run, worker, steer = steered
    made = steer.post("thinking.budget", 10, "0")
    steer.act(made, "cancel", 200)
    worker.sync(applied=[report(made, "applied", 2, group="2-0")])
    now = steer.client.get(steer.path).json()["data"][0]
    assert (now["state"], now["error"]) == ("applied", "The cancellation arrived when it was already in effect.")
    assert Run.objects.get(pk=run.pk).effective_spec["thinking"]["budget"] == 10


def test_revert_is_a_new_control(steered: tuple[Run, Worker, Steer], team: Team) -> None:
    _, worker, steer = steered
    made = steer.post("thinking.budget", 10, "0")
    worker.sync(applied=[report(made, "applied", 2)])
    assert steer.act(made, "revert", 412, **{"If-Match": '"0"'})["revision"] == 1
    back = steer.act(made, "revert", 202, **{"If-Match": '"1"'})
    assert (back["value"], back["before"], back["revision"], back["reverts"]) == (20, 10, 2, made["id"])
    assert back["reason"] == "reverts revision 1"
    assert Control.objects.get(pk=made["id"]).state == "applied"
    assert AuditEntry.objects.for_team(team).filter(action="control.revert").count() == 1


def test_rewind_goes_on_from_the_checkpoint_before(steered: tuple[Run, Worker, Steer], settings: Any) -> None:
    from dressage.runs.sweep.reconcile import sweep

    run, worker, steer = steered
    first = steer.post("optimizer.learning_rate", 1e-5, "0")
    worker.sync(applied=[report(first, "applied", 2), report(first, "settled", 2)])
    worker.steps(1, 6)
    second = steer.post("thinking.budget", 10, "1")
    worker.sync(applied=[report(second, "applied", 7)])
    steer.act(second, "rewind", 409)
    folder = worker.checkpoint(6, reason="before_control", control_id=second["id"])
    child = steer.act(second, "rewind", 201)
    assert (child["state"], child["step"], child["parent"]["run"], child["parent"]["step"]) == ("draft", 6, run.id, 6)
    assert child["parent"]["continues"] is True
    assert child["name"] == "first (rewound to step 6)"
    assert child["spec"]["optimizer"]["learning_rate"] == 1e-5
    assert child["spec"]["thinking"]["budget"] == 20
    # The parent's worker may delete its checkpoint: the child has its own.
    import shutil

    shutil.rmtree(folder)
    settings.MAX_ACTIVE_RUNS = 2
    assert steer.client.post(f"/api/v1/runs/{child['id']}/start").status_code == 202
    sweep()
    bundle = Worker(child["id"], 1).get("bundle").json()
    assert bundle["resume"] == {
        "step": 6,
        "path": str(settings.RUN_ROOT / child["id"] / "origin"),
        "manifest_sha256": Run.objects.get(pk=child["id"]).origin_manifest_sha256,
    }
    assert bundle["policy"]["path"] != bundle["resume"]["path"]
    steer.act(second, "rewind", 409)


def test_while_paused_controls_are_staged(steered: tuple[Run, Worker, Steer]) -> None:
    _, worker, steer = steered
    worker.state("paused", "asked to pause")
    made = steer.post("thinking.budget", 10, "0")
    assert made["state"] == "staged"
    assert [command["id"] for command in worker.sync()["commands"]] == [made["id"]]


def test_drafts_and_finished_runs_are_not_steered(
    make_run: Callable[..., Run], api: Callable[..., APIClient], steered: tuple[Run, Worker, Steer]
) -> None:
    _, worker, steer = steered
    waiting = steer.post("thinking.budget", 10, "0")
    draft = Steer(steer.client, make_run("draft"))
    assert "fork it" in draft.post("thinking.budget", 10, "0", 409)["detail"]
    worker.state("succeeded", "all steps are done")
    assert "fork it" in steer.post("thinking.budget", 11, "1", 409)["detail"]
    now = steer.client.get(steer.path).json()["data"][0]
    assert (now["id"], now["state"]) == (waiting["id"], "cancelled")
    assert now["error"] == "The run ended before it took effect."


def test_idempotency_key(steered: tuple[Run, Worker, Steer]) -> None:
    _, _, steer = steered
    body = {"target": "thinking.budget", "value": 10}
    headers = {"If-Match": "0", "Idempotency-Key": "k1"}
    answers = [steer.client.post(steer.path, body, format="json", headers=headers) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [202, 202]
    assert answers[0].json() == answers[1].json()
    assert Control.objects.count() == 1
