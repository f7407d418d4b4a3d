"""Several changes at once: staged whole or not at all, in effect together, undone together."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.runs.models import Control, Run
from dressage.runs.steer.staging import stage_controls
from dressage.runs.sweep.reconcile import sweep
from dressage.teams.models import AuditEntry, Team
from dressage.telemetry.models import Event
from tests.platform.runs.fixtures import Worker, expire_lease

Launch = Callable[..., tuple[Run, Worker]]
ROOM = [("thinking.budget", 40), ("rollout.max_tokens", 64)]
"""A budget of 40 never applies before there is room for 64 tokens."""
RATE = ("optimizer.learning_rate", 1e-5)


class Steer:
    """An operator's client for the controls of one run."""

    def __init__(self, client: APIClient, run: Run) -> None:
        self.client, self.path = client, f"/api/v1/runs/{run.id}/controls"

    def post(self, changes: Any, match: str = "0", status: int = 202, key: str = "", **more: Any) -> Any:
        headers = {"If-Match": match, **({"Idempotency-Key": key} if key else {})}
        listed = [{"target": target, "value": value} for target, value in changes]
        response = self.client.post(self.path, {"changes": listed, **more}, format="json", headers=headers)
        assert response.status_code == status, response.content
        return response.json()

    def act(self, control: dict[str, Any], act: str, status: int) -> Any:
        response = self.client.post(f"{self.path}/{control['id']}/{act}", {}, format="json")
        assert response.status_code == status, response.content
        return response.json()


@pytest.fixture
def steered(launch: Launch, api: Callable[..., APIClient]) -> tuple[Run, Worker, Steer]:
    run, worker = launch()
    return run, worker, Steer(api("operator"), run)


def report(control: dict[str, Any], state: str, step: int, **more: Any) -> dict[str, Any]:
    return {"control_id": control["id"], "state": state, "step": step, "policy_version": step - 1, **more}


def values(run: Run) -> tuple[int, int]:
    """Budget and room for tokens that are in force."""
    spec = Run.objects.get(pk=run.pk).effective_spec
    return spec["thinking"]["budget"], spec["rollout"]["max_tokens"]


def test_one_request_stages_them_as_one(steered: tuple[Run, Worker, Steer], team: Team) -> None:
    run, worker, steer = steered
    answer = steer.post([*ROOM, RATE], reason="more room", apply_at=9)
    made = answer["data"]
    assert (answer["object"], answer["revision"]) == ("list", 3)
    assert [(c["target"], c["before"], c["value"]) for c in made] == [
        ("thinking.budget", 20, 40),
        ("rollout.max_tokens", 32, 64),
        ("optimizer.learning_rate", 1e-6, 1e-5),
    ]
    (change_set,) = {c["change_set"] for c in made}
    assert change_set.startswith("chg_")
    assert {(c["state"], c["apply_at"], c["reason"]) for c in made} == {("staged", 9, "more room")}
    # One who applies them one by one, as workers did before there were sets, never meets a spec that is not valid.
    assert [c["revision"] for c in made] == [2, 1, 3]
    assert [(c["target"], c["change_set"]) for c in worker.sync()["commands"]] == [
        ("rollout.max_tokens", change_set),
        ("thinking.budget", change_set),
        ("optimizer.learning_rate", change_set),
    ]
    told = Event.objects.filter(run=run, kind="control").order_by("seq").values_list("data", flat=True)
    assert [event["control"]["revision"] for event in told] == [1, 2, 3]
    entry = AuditEntry.objects.for_team(team).get(action="control.stage")
    assert (entry.target_type, entry.target_id, entry.reason) == ("change_set", change_set, "more room")
    assert entry.before["changes"][0] == {"target": "thinking.budget", "value": 20}
    assert entry.after["changes"][0] == {
        "control": made[0]["id"], "target": "thinking.budget", "value": 40, "revision": 2
    }  # fmt: skip
    listed = steer.client.get(steer.path)
    assert listed["ETag"] == '"3"'
    assert sorted(listed.json()["data"], key=lambda c: c["revision"]) == sorted(made, key=lambda c: c["revision"])


def test_a_list_of_one_is_a_control_like_any_other(steered: tuple[Run, Worker, Steer], team: Team) -> None:
    _, worker, steer = steered
    (made,) = steer.post([RATE])["data"]
    assert made["change_set"] is None
    assert "change_set" not in worker.sync()["commands"][0]
    assert AuditEntry.objects.for_team(team).get(action="control.stage").target_id == made["id"]


@pytest.mark.parametrize(
    ("changes", "more", "pointer", "words"),
    [
        ([RATE, ("thinking.budget", -1)], {}, "/changes/1/value", "thinking.budget: Input should be"),
        ([RATE, ("no.such.field", 1)], {}, "/changes/1/target", "there is no field no.such.field"),
        ([("schedule.steps", 50), RATE], {}, "/changes/0/target", "schedule.steps cannot change"),
        ([RATE, ("thinking.budget", 20)], {}, "/changes/1/value", "thinking.budget is 20 already"),
        ([RATE, RATE], {}, "/changes/1/value", "optimizer.learning_rate is changed twice"),
        ([RATE, ROOM[0]], {}, "/changes/1/value", "thinking.budget: a budget of 40 never applies"),
        (
            [("data.sources.add.weight", 0.0), ("data.sources.more.weight", 0.0)],
            {},
            "/changes/1/value",
            "at least one source needs a weight above zero",
        ),
        ([RATE, ("reward.definition", "none@1")], {}, "/changes/1/value", "none@1"),
        ([], {}, "/changes", "empty"),
        ([RATE], {"apply_at": 41}, "/apply_at", "a step from 1 to 40"),
        ([RATE], {"target": "thinking.budget"}, "/target", "either `changes`"),
        ([(RATE[0] * 10, 1)], {}, "/changes/0/target", "200 characters"),
    ],
)
def test_one_at_fault_refuses_all(
    steered: tuple[Run, Worker, Steer], changes: Any, more: dict[str, Any], pointer: str, words: str
) -> None:
    run, worker, steer = steered
    before = (Event.objects.count(), AuditEntry.objects.count())
    problem = steer.post(changes, status=422, **more)
    assert [error["pointer"] for error in problem["errors"]] == [pointer]
    assert words in problem["errors"][0]["detail"]
    run.refresh_from_db()
    assert (Control.objects.count(), run.revision, worker.sync()["commands"]) == (0, 0, [])
    assert (Event.objects.count(), AuditEntry.objects.count()) == before


def test_a_stale_revision_is_refused_with_who_did_what(
    steered: tuple[Run, Worker, Steer], api: Callable[..., APIClient]
) -> None:
    run, worker, steer = steered
    colleague = Steer(api("operator"), run)
    theirs = colleague.post([("thinking.budget", 10), RATE], reason="too long")["data"]
    before = (Event.objects.count(), AuditEntry.objects.count())
    problem = steer.post([("thinking.budget", 12), ("rollout.temperature", 0.7)], status=412)
    assert (problem["error"]["code"], problem["revision"]) == ("stale_revision", 2)
    assert problem["changes"] == theirs
    told = {name: theirs[0][name] for name in ("target", "before", "value", "reason", "state")}
    assert told == {
        "target": "thinking.budget", "before": 20, "value": 10, "reason": "too long", "state": "staged"
    }  # fmt: skip
    assert theirs[0]["actor"] == colleague.client.user.email != steer.client.user.email
    assert theirs[0]["created_at"]
    run.refresh_from_db()
    assert (run.revision, Control.objects.count()) == (2, 2)
    assert [c["value"] for c in worker.sync()["commands"]] == [10, 1e-5]
    assert (Event.objects.count(), AuditEntry.objects.count()) == before
    steer.post([("thinking.budget", 12), ("rollout.temperature", 0.7)], "2")


def test_repeated_with_its_key_it_is_staged_once(steered: tuple[Run, Worker, Steer]) -> None:
    _, _, steer = steered
    first = steer.post(ROOM, key="k1")
    assert steer.post(ROOM, key="k1") == first
    assert steer.post([*ROOM, RATE], key="k1", status=422)["error"]["code"] == "idempotency_key_reused"
    assert Control.objects.count() == 2


def test_the_effective_spec_waits_for_the_whole_set(steered: tuple[Run, Worker, Steer]) -> None:
    run, worker, steer = steered
    budget, room = steer.post(ROOM)["data"]
    # The worker's reports may come with two syncs, and a part of them makes no valid spec.
    worker.sync(applied=[report(budget, "applied", 5)])
    assert values(run) == (20, 32)
    worker.sync(applied=[report(room, "applied", 5)])
    assert values(run) == (40, 64)
    worker.sync(applied=[report(budget, "settled", 6), report(room, "settled", 6)])
    assert list(Control.objects.order_by("revision").values_list("state", "error")) == [("settled", None)] * 2


def test_the_targets_are_those_of_whole_sets(steered: tuple[Run, Worker, Steer]) -> None:
    _, _, steer = steered
    steer.post(ROOM)
    listed = steer.client.get(steer.path.replace("controls", "targets")).json()["data"]
    found = {target["path"]: target["value"] for target in listed}
    assert [found[path] for path, _ in ROOM] == [40, 64]


def test_one_is_cancelled_with_its_set(steered: tuple[Run, Worker, Steer], team: Team) -> None:
    run, worker, steer = steered
    alone = steer.post([RATE])["data"][0]
    budget, room = steer.post(ROOM, "1")["data"]
    assert steer.act(room, "cancel", 200)["id"] == room["id"]
    states = dict(Control.objects.values_list("id", "state"))
    assert states == {alone["id"]: "staged", budget["id"]: "cancelled", room["id"]: "cancelled"}
    assert steer.act(budget, "cancel", 200)["state"] == "cancelled"
    assert [c["id"] for c in worker.sync()["commands"]] == [alone["id"]]
    entry = AuditEntry.objects.for_team(team).get(action="control.cancel")
    assert (entry.target_type, entry.target_id) == ("change_set", room["change_set"])
    assert [fact["control"] for fact in entry.before["changes"]] == [room["id"], budget["id"]]
    told = Event.objects.filter(run=run, kind="control").order_by("-seq").values_list("data", flat=True)[:2]
    assert {event["control"]["id"] for event in told} == {budget["id"], room["id"]}


def test_a_set_that_is_in_effect_in_part_cannot_be_cancelled(steered: tuple[Run, Worker, Steer]) -> None:
    _, worker, steer = steered
    budget, room = steer.post(ROOM)["data"]
    worker.sync(applied=[report(budget, "applied", 5)])
    refused = steer.act(room, "cancel", 409)["error"]
    assert (refused["code"], refused["message"]) == (
        "wrong_state",
        "Its change set is already in effect; revert it instead.",
    )
    assert dict(Control.objects.values_list("id", "state")) == {budget["id"]: "applied", room["id"]: "staged"}


def test_a_set_is_rejected_whole(steered: tuple[Run, Worker, Steer]) -> None:
    run, worker, steer = steered
    alone = steer.post([RATE])["data"][0]
    budget, room = steer.post(ROOM, "1")["data"]
    before = Event.objects.filter(run=run, kind="control").count()
    both = [report(control, "rejected", 5, error="no room") for control in (budget, room)]
    for applied in (both[:1], both):  # the second may come with another sync
        worker.sync(applied=applied)
        assert dict(Control.objects.values_list("id", "state")) == {
            alone["id"]: "staged",
            budget["id"]: "rejected",
            room["id"]: "rejected",
        }
        assert set(Control.objects.exclude(pk=alone["id"]).values_list("error", flat=True)) == {"no room"}
        assert Event.objects.filter(run=run, kind="control").count() == before + 2
    assert values(run) == (20, 32)


@pytest.mark.parametrize("syncs", [1, 2])
def test_what_a_worker_of_before_applies_of_a_rejected_set_is_in_effect(
    syncs: int, steered: tuple[Run, Worker, Steer]
) -> None:
    """It knows no sets: it refuses the member that it cannot read, and trains under the others."""
    run, worker, steer = steered
    budget, rate = steer.post([("thinking.budget", 10), RATE])["data"]
    reports = [report(budget, "rejected", 5, error="cannot be read"), report(rate, "applied", 5)]
    for index in range(syncs):
        worker.sync(applied=reports[index::syncs])
    found = Control.objects.in_bulk()
    assert (found[budget["id"]].state, found[rate["id"]].state) == ("rejected", "applied")
    assert (found[rate["id"]].error or "").startswith("In effect without the rest of its set")
    spec = Run.objects.get(pk=run.pk).effective_spec
    assert (spec["thinking"]["budget"], spec["optimizer"]["learning_rate"]) == (20, 1e-5)
    told = Event.objects.filter(run=run, kind="control").count()
    worker.sync(applied=reports)
    assert Event.objects.filter(run=run, kind="control").count() == told, "a repeated report changes nothing"
    worker.sync(applied=[report(rate, "settled", 6)])
    assert Control.objects.get(pk=rate["id"]).state == "settled"


def test_one_can_be_reverted_by_itself(steered: tuple[Run, Worker, Steer]) -> None:
    _, worker, steer = steered
    budget, room = steer.post(ROOM)["data"]
    worker.sync(applied=[report(room, "applied", 2), report(budget, "applied", 2)])
    assert "never applies" in steer.act(room, "revert", 422)["detail"], "it would leave no valid spec"
    back = steer.act(budget, "revert", 202)
    assert (back["value"], back["reverts"], back["change_set"]) == (20, budget["id"], None)
    assert steer.act(room, "revert", 202)["value"] == 32


def test_a_rewind_goes_behind_the_whole_set(steered: tuple[Run, Worker, Steer]) -> None:
    _, worker, steer = steered
    (rate,) = steer.post([RATE])["data"]
    worker.sync(applied=[report(rate, "applied", 2)])
    worker.steps(1, 6)
    budget, room = steer.post(ROOM, "1")["data"]
    # Both are reported at the step of the checkpoint: only their set tells that neither was in force there.
    worker.checkpoint(6, reason="before_control", control_id=budget["id"])
    worker.sync(applied=[report(room, "applied", 6), report(budget, "applied", 6)])
    child = steer.act(budget, "rewind", 201)
    assert (child["spec"]["thinking"]["budget"], child["spec"]["rollout"]["max_tokens"]) == (20, 32)
    assert child["spec"]["optimizer"]["learning_rate"] == 1e-5


def test_a_new_attempt_gets_a_set_whole(launch: Launch, team: Team, actor: Actor) -> None:
    run, worker = launch()
    budget, room = stage_controls(team, actor, run.id, revision=0, changes=ROOM)
    # An attempt that died between its two reports.
    worker.sync(applied=[{"control_id": budget.id, "state": "applied", "step": 3, "group": "3-0"}])
    worker.steps(1, 5)
    worker.checkpoint(5)
    expire_lease(run)
    sweep()
    second = Worker(run.id, 2)
    assert second.get("bundle").json()["spec"]["thinking"]["budget"] == 20
    assert [(c["id"], c["apply_at"]) for c in second.sync()["commands"]] == [(room.id, "next"), (budget.id, 3)]
    second.sync(applied=[{"control_id": c.id, "state": "applied", "step": 6} for c in (room, budget)])
    assert values(run) == (40, 64)
