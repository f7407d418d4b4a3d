"""The link: idempotent, without gaps, only for the present attempt's own token."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from django.utils import timezone
from rest_framework.test import APIClient

from dressage.datasets.models import DatasetVersion
from dressage.runs.life.services import request_checkpoint
from dressage.runs.models import Attempt, Checkpoint, CheckpointRequest, Run
from dressage.runs.tokens import link_token
from dressage.telemetry.models import Event, Moment, Point, Rollout
from tests.platform.bodies import NO_OBJECTS
from tests.platform.runs.fixtures import Worker, step_event

Launch = Callable[..., tuple[Run, Worker]]
ROW: dict[str, Any] = {
    "group_id": "1-0", "sample": 0, "prompt_id": "p", "source": "add", "prompt": "1+1=", "completion": "2",
    "answer": "2", "reward": 1.0, "reward_parts": {"a": 1.0, "b": "NaN"}, "reward_error": None, "advantage": 0.5,
    "excluded": None, "finish_reason": "stop", "length": 2, "thinking_tokens": 0, "budget_hit": False,
    "control_revision": 0, "policy_versions": [0, 1],
}  # fmt: skip


def stored() -> list[Any]:
    """Everything that a sync may write."""
    models = (Event, Moment, Point, Rollout, Checkpoint)
    rows = [row for model in models for row in model.objects.order_by("pk").values()]
    return rows + list(Run.objects.values("state", "step", "event_seq", "effective_spec", "revision", "tokens_total"))


def test_a_sync_twice_is_a_sync_once(launch: Launch) -> None:
    run, worker = launch()
    events = [
        step_event(1, **{"actor/entropy": 0.5}),
        {"kind": "rollouts", "step": 1, "data": {"rows": [ROW, {**ROW, "sample": 1, "reward": None}]}},
        {"kind": "eval", "step": 1, "data": {"metrics": {"eval/held_out/score/mean": 0.25}}},
        {"kind": "alert", "data": {"level": "warn", "title": "t", "message": "m"}},
    ]
    assert worker.sync(*events)["acked_seq"] == worker.seq == 5
    before = stored()
    assert Point.objects.count() == 3
    assert Rollout.objects.count() == 2
    assert worker.repeat()["acked_seq"] == 5
    assert stored() == before
    # The journal may also send old events together with new ones.
    body = worker.last
    worker.sync(step_event(2))
    answer = worker.post({**body, "events": body["events"] + worker.last["events"]})
    assert answer["acked_seq"] == 6
    assert Point.objects.count() == 4
    run.refresh_from_db()
    assert (run.step, run.tokens_total) == (2, 20)
    assert run.summary == {"reward": 0.02, "eval": 0.25, "seconds_per_step": 2.0, "times": {"step": [2.0, 2.0]}}


@pytest.mark.parametrize("numbers", [[3], [3, 4], [2, 4], [2, 2], [3, 2], [2, 3, 5]])
def test_gaps_are_refused(launch: Launch, numbers: list[int]) -> None:
    _, worker = launch()
    before = stored()
    event = {"kind": "log", "at": "2026-11-21T06:00:00Z", "data": {"level": "info", "message": "x"}}
    body = {"attempt": 1, "events": [{**event, "seq": number} for number in numbers], "applied": []}
    answer = worker.post(body, 400)
    assert (answer["error"]["code"], answer["acked_seq"]) == ("event_gap", 1)
    assert stored() == before


@pytest.mark.parametrize("body", NO_OBJECTS)
def test_a_sync_is_an_object(launch: Launch, body: Any) -> None:
    _, worker = launch()
    before = stored()
    worker.post(body, status=422)
    assert stored() == before


def test_the_lease_is_renewed_by_database_time(launch: Launch) -> None:
    run, worker = launch()
    answer = {"acked_seq": 1, "commands": [], "desired_state": "running", "release_place": False, "lease_s": 15}
    assert worker.sync() == answer
    left = Attempt.objects.filter(lease_expires_at__gt=Now() + timedelta(seconds=14))
    assert left.filter(lease_expires_at__lt=Now() + timedelta(seconds=16)).get().run_id == run.id


def test_tokens(launch: Launch, api: Callable[..., APIClient]) -> None:
    run, worker = launch()
    other, _ = launch_second(launch)
    body = {"attempt": 1, "events": [], "applied": []}
    before = stored()
    assert worker.post(body, 401, token="lnk_wrong")["status"] == 401
    assert worker.post(body, 401, token="")["status"] == 401
    assert worker.post(body, 401, token=link_token(run.id, 2))["status"] == 401
    assert worker.post(body, 403, token=link_token(other.id, 1))["error"]["code"] == "foreign_token"
    assert worker.post({**body, "attempt": 2}, 403)["error"]["code"] == "foreign_token"
    assert api("admin").post(f"/api/v1/link/runs/{run.id}/sync", body, format="json").status_code == 401
    client = APIClient(headers={"Authorization": f"Bearer {link_token(run.id, 1)}"})
    for path in ("runs", f"runs/{run.id}", "datasets"):
        assert client.get(f"/api/v1/{path}").status_code == 401
    assert stored() == before
    assert link_token(run.id, 1) not in str(list(Attempt.objects.values()))


def launch_second(launch: Launch) -> tuple[Run, Worker]:
    from django.conf import settings

    settings.MAX_ACTIVE_RUNS = 2
    try:
        return launch("second")
    finally:
        settings.MAX_ACTIVE_RUNS = 1


def test_bundle_and_datasets(launch: Launch, settings: Any) -> None:
    run, worker = launch()
    bundle = worker.get("bundle").json()
    version = DatasetVersion.objects.get()
    assert bundle["spec"] == run.spec
    assert bundle["reward"]["ref"] == "exact@1"
    assert bundle["policy"]["name"] == "small"
    assert (bundle["resume"], bundle["revision"], bundle["lease_s"]) == (None, 0, 15)
    assert bundle["run_dir"] == str(settings.RUN_ROOT / run.id)
    [(ref, dataset)] = bundle["datasets"].items()
    assert (ref, dataset["sha256"], dataset["rows"]) == ("sums@1", version.sha256, 2)
    file = worker.get("datasets/sums@1")
    assert b"".join(file.streaming_content) == version.path.read_bytes()
    worker.get("datasets/sums@2", 404)


def test_events_that_make_no_sense_do_not_block(launch: Launch) -> None:
    _, worker = launch()
    bad: list[dict[str, Any]] = [
        {"kind": "dance", "data": {}},
        {"kind": "step", "step": 1, "data": {"metrics": {"a": "much"}, "tokens_total": 1, "seconds": 1.0}},
        {"kind": "step", "data": {"metrics": {}, "tokens_total": 1, "seconds": 1.0}},
        {"kind": "state", "data": {"state": "draft"}},
        {"kind": "checkpoint", "step": 1, "data": {"path": "/etc", "bytes": 1, "manifest_sha256": "0" * 64,
                                                   "reason": "schedule", "policy_version": 1}},
        {"kind": "checkpoint", "step": 1, "data": {"path": "../x", "bytes": 1, "manifest_sha256": "0" * 64,
                                                   "reason": "schedule", "policy_version": 1}},
    ]  # fmt: skip
    worker.sync(step_event(1), *bad, step_event(1), step_event(2))
    logs = Event.objects.filter(kind="log").order_by("seq").values_list("data", flat=True)
    assert [log["level"] for log in logs] == ["error"] * 7
    assert "unknown event kind 'dance'" in logs[0]["message"]
    assert "metrics.a" in logs[1]["message"]
    assert "the step is missing" in logs[2]["message"]
    assert "outside the run's folder" in logs[4]["message"]
    assert "outside the run's folder" in logs[5]["message"]
    assert "step 1 comes after step 1" in logs[6]["message"]
    assert list(Point.objects.order_by("step").values_list("step", "value")) == [(1, 0.01), (2, 0.02)]
    assert Checkpoint.objects.count() == 0


def test_text_that_postgresql_cannot_store(launch: Launch) -> None:
    _, worker = launch()
    row = {**ROW, "completion": "a\0b\ud83d", "reward_error": None}
    worker.sync({"kind": "rollouts", "step": 1, "data": {"rows": [row]}})
    assert Rollout.objects.get().completion == "a\ufffdb\ufffd"


def test_the_worst_tokens_of_a_step_are_kept(launch: Launch) -> None:
    _, worker = launch()
    token = {"group_id": "1-0", "sample": 2, "position": 4, "token_id": 9, "version": 0, "text": "a\0"}
    token |= {"behaviour_logprob": -0.5, "learner_logprob": "-Infinity"}
    worker.sync({"kind": "rollouts", "step": 1, "data": {"rows": [ROW], "worst_tokens": [{**token, "more": 1}]}})
    data = Event.objects.get(kind="rollouts").data
    assert data == {"count": 1, "worst_tokens": [{**token, "text": "a\ufffd"}]}
    worker.sync({"kind": "rollouts", "step": 1, "data": {"rows": [ROW], "worst_tokens": [{"sample": 1}]}})
    assert "worst_tokens.0.group_id" in Event.objects.get(kind="log").data["message"]
    assert Rollout.objects.count() == 1


def test_numbers_that_json_cannot_write(launch: Launch) -> None:
    _, worker = launch()
    worker.step(1, a="NaN", b="Infinity", c="-Infinity", d=1e308)
    values = {p["series__name"]: p["value"] for p in Point.objects.values("series__name", "value")}
    assert values["a"] != values["a"]
    assert (values["b"], values["c"], values["d"]) == (float("inf"), float("-inf"), 1e308)
    assert Event.objects.filter(kind="step").get().data["metrics"]["a"] == "NaN"


def test_phases_are_not_kept(launch: Launch) -> None:
    run, worker = launch()
    count = Event.objects.count()
    worker.sync({"kind": "phase", "step": 3, "data": {"phase": "generate", "done": 37, "total": 256}})
    run.refresh_from_db()
    assert run.progress == {
        "phase": "generate", "done": 37, "total": 256, "step": 3, "at": "2026-11-21T06:00:00.000Z",
        "since": "2026-11-21T06:00:00.000Z",
    }  # fmt: skip
    assert Event.objects.count() == count


def test_requested_checkpoint(launch: Launch, team: Any, actor: Any) -> None:
    run, worker = launch()
    wish = request_checkpoint(team, actor, run.id)
    assert request_checkpoint(team, actor, run.id) == wish
    assert worker.sync()["commands"] == [{"id": wish.id, "type": "checkpoint"}]
    worker.checkpoint(3)
    assert worker.sync()["commands"] == [{"id": wish.id, "type": "checkpoint"}]
    worker.checkpoint(4, reason="requested", control_id=wish.id)
    assert worker.sync()["commands"] == []
    wish = CheckpointRequest.objects.get()
    assert wish.checkpoint == Checkpoint.objects.get(step=4)
    assert wish.closed_at <= timezone.now()


def test_one_folder_with_two_reasons_is_one_checkpoint(launch: Launch) -> None:
    _, worker = launch()
    worker.checkpoint(3, reason="before_control", control_id="ctl_x")
    worker.checkpoint(3)
    assert list(Checkpoint.objects.values_list("step", "reason")) == [(3, "before_control")]


def test_a_phase_keeps_its_beginning_until_another_begins(launch: Launch) -> None:
    run, worker = launch()
    for second, phase, step in ((0, "generate", 3), (4, "generate", 3), (6, "learn", 3), (7, "generate", 4)):
        at = f"2026-11-21T06:00:0{second}.000Z"
        worker.sync({"kind": "phase", "step": step, "at": at, "data": {"phase": phase}})
        run.refresh_from_db()
        since = {0: 0, 4: 0, 6: 6, 7: 7}[second]
        assert (run.progress or {})["since"] == f"2026-11-21T06:00:0{since}.000Z"
