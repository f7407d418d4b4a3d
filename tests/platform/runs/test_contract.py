"""The contract of the link as the platform keeps it: a real worker's journal is understood, and what it is told."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

from dressage.common.actors import Actor
from dressage.runs.life.services import request_checkpoint
from dressage.runs.link.bundle import bundle
from dressage.runs.link.checkpoints import _WEIGHT
from dressage.runs.link.ingest import Ingest
from dressage.runs.link.sync import commands
from dressage.runs.models import Attempt, Checkpoint, Run
from dressage.runs.states import CONTROL_TRANSITIONS, ControlState, DesiredState, RunState
from dressage.runs.steer.controls import stage_control
from dressage.teams.models import Team
from dressage.telemetry.models import Event, Point, Rollout
from tests.platform.runs.fixtures import Worker
from trainer_core.link import commands as link_commands
from trainer_core.link.bundle import Bundle
from trainer_core.link.commands import read_command
from trainer_core.link.events import CHECKPOINT_REASONS, KINDS, ReportedState

RECORDED = Path(__file__).resolve().parents[2] / "data" / "link"
"""Journal of a real run of two steps, in the course of which a person staged two controls, asked for a checkpoint and
paused. ``RUN_DIR`` stands for its folder."""
Launch = Callable[..., tuple[Run, Worker]]


def journal(run: Run) -> list[dict[str, Any]]:
    text = (RECORDED / "short_run.jsonl").read_text().replace("RUN_DIR", str(run.run_dir))
    return [json.loads(line) for line in text.splitlines()]


def test_every_event_of_a_real_run_is_understood(make_run: Callable[..., Run]) -> None:
    from dressage.runs.sweep.reconcile import sweep

    run = make_run(start=True, schedule={"steps": 2})
    sweep()
    worker, events = Worker(run.id, 1), journal(run)
    assert {event["kind"] for event in events} == set(KINDS) - {"rubric_proposals", "outcomes", "pass_rates"}
    applied = json.loads((RECORDED / "short_run_applied.json").read_text())
    answer = worker.post({"attempt": 1, "events": events, "applied": applied})
    assert answer["acked_seq"] == len(events)
    run.refresh_from_db()
    assert (run.state, run.desired_state, run.step, run.summary["reward"]) == ("succeeded", "running", 2, 0.5)
    assert not Event.objects.filter(run=run, kind="log", data__level="error").exists()
    stored = Event.objects.filter(run=run).exclude(kind="state").order_by("seq").values_list("kind", flat=True)
    told = [event["kind"] for event in events if event["kind"] not in ("state", "phase")]
    assert list(stored) == told
    states = Event.objects.filter(run=run, kind="state").order_by("seq").values_list("data__to", flat=True)
    assert list(states)[-4:] == ["running", "paused", "running", "succeeded"]
    saved = Checkpoint.objects.filter(run=run).order_by("step").values_list("step", "reason")
    assert list(saved) == [(1, "before_control"), (2, "final")]
    assert Rollout.objects.filter(run=run).count() == sum(
        len(event["data"]["rows"]) for event in events if event["kind"] == "rollouts"
    )
    assert Point.objects.filter(series__run=run).count() == sum(
        len(event["data"]["metrics"]) for event in events if event["kind"] in ("step", "eval")
    )


def test_commands_are_read_as_they_were_written(launch: Launch, team: Team, actor: Actor) -> None:
    run, worker = launch()
    stage_control(team, actor, run.id, revision=0, target="thinking.budget", value=10)
    request_checkpoint(team, actor, run.id)
    run.refresh_from_db()
    written = commands(run)
    assert [command.type for command in written] == ["control", "checkpoint"]
    assert [read_command(document) for document in worker.sync()["commands"]] == written


def test_the_bundle_is_read_as_it_was_written(launch: Launch) -> None:
    _, worker = launch()
    written = bundle(Attempt.objects.get())
    assert Bundle.model_validate(worker.get("bundle").json()) == written


def test_both_sides_mean_the_same_states() -> None:
    assert set(get_args(ReportedState)) == set(RunState.values) - {"draft", "queued"}
    assert set(get_args(link_commands.DesiredState)) == set(DesiredState.values)
    assert set(get_args(link_commands.AppliedState)) == set(CONTROL_TRANSITIONS[ControlState.STAGED]) - {"cancelled"}
    assert sorted(_WEIGHT) == sorted(CHECKPOINT_REASONS)
    assert all(callable(getattr(Ingest, f"_{kind}")) for kind in KINDS)
