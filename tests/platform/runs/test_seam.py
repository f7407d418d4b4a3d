"""The worker's own link, over real HTTP, against the platform's endpoints."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dressage.common.actors import Actor
from dressage.runs.life.services import pause_run
from dressage.runs.models import Attempt, Control, Run
from dressage.runs.steer.staging import stage_control
from dressage.runs.sweep.reconcile import sweep
from dressage.runs.tokens import link_token
from dressage.teams.models import Team
from dressage.telemetry.models import Event, Point
from tests.platform.runs.fixtures import expire_lease, step_event
from tests.support.installation import wait_until
from trainer_core.link.commands import Applied
from trainer_core.link.events import StateData, StepData
from worker.errors import FencedError
from worker.link.client import Link
from worker.link.journal import Journal
from worker.link.platform import Platform, parse_bundle


@pytest.mark.django_db(transaction=True)
def test_one_attempt(live_server: Any, make_run: Callable[..., Run], team: Team, actor: Actor, tmp_path: Path) -> None:
    run = make_run(start=True)
    sweep()
    token = link_token(run.id, 1)
    platform = Platform(live_server.url, token, run.id, tmp_path / "cache")
    bundle = parse_bundle(platform.fetch_bundle())
    assert (bundle.run_id, bundle.attempt, bundle.resume) == (run.id, 1, None)
    assert bundle.spec.model_dump(mode="json") == run.spec
    rows = platform.rows("sums@1", bundle.datasets["sums@1"])
    assert rows == [{"prompt": "1+1=", "answer": "2"}, {"prompt": "1+2=", "answer": "3"}]

    link = Link(live_server.url, token, run.id, 1, Journal(tmp_path / "journal"))
    link.start()
    link.emit(StateData(state="running"), 0)
    for step in (1, 2, 3):
        link.emit(StepData(**step_event(step)["data"]), step)
    link.phase("generate", 4, 1, 8)
    assert link.flush(20)
    run.refresh_from_db()
    assert (run.state, run.step, run.progress["phase"]) == ("running", 3, "generate")

    control = stage_control(team, actor, run.id, revision=0, target="thinking.budget", value=10)
    wait_until(lambda: link.commands(), 20)
    assert [command.id for command in link.commands()] == [control.id]
    link.control(Applied(control_id=control.id, state="applied", step=4, group="4-0", policy_version=3))
    link.control(Applied(control_id=control.id, state="settled", step=4, policy_version=4))
    wait_until(lambda: Control.objects.get().state == "settled", 20)
    pause_run(team, actor, run.id)
    wait_until(lambda: link.desired_state == "paused", 20)
    assert link.commands() == []

    expire_lease(run)
    synced = link.syncs
    wait_until(lambda: link.syncs > synced, 20)
    sweep()
    assert Run.objects.get(pk=run.pk).attempt == 1, "a live worker keeps its lease"
    Attempt.objects.update(fenced=True)
    wait_until(lambda: link.fenced is not None, 20)
    assert "409" in str(link.fenced)
    link.close()
    with pytest.raises(FencedError):
        platform.fetch_bundle()
    assert Point.objects.count() == 3
    kinds = Event.objects.filter(run=run).order_by("seq").values_list("kind", flat=True)
    assert [kind for kind in kinds if kind in ("step", "control")] == ["step"] * 3 + ["control"] * 3
