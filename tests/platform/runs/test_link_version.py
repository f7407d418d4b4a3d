"""Workers of other versions of the link: refused in words that the run shows, unless it is no longer theirs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.runs.life import services
from dressage.runs.models import Attempt, Run
from dressage.runs.sweep.reconcile import sweep
from dressage.runs.tokens import link_token
from dressage.teams.models import Team
from dressage.telemetry.models import Event
from tests.platform.runs.fixtures import Worker
from tests.support.installation import wait_until
from trainer_core.link import version
from trainer_core.link.events import StateData
from worker.errors import FencedError
from worker.link.client import Link
from worker.link.journal import Journal
from worker.link.platform import Platform

Launch = Callable[..., tuple[Run, Worker]]
OLD = "This cluster runs Dressage's link version 1, the platform runs 2: upgrade the cluster's workers."
NEW = "This cluster runs Dressage's link version 2, the platform runs 1: upgrade the platform."


def speak(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Upgrade the platform."""
    monkeypatch.setattr(version, "LINK_VERSION", number)
    monkeypatch.setattr(version, "SPOKEN", frozenset({number}))


def answer(run: Run, told: str | None, path: str = "sync", attempt: int = 1) -> Any:
    named = {} if told is None else {version.HEADER: told}
    client = APIClient(headers={"Authorization": f"Bearer {link_token(run.id, attempt)}", **named})
    address = f"/api/v1/link/runs/{run.id}/{path}"
    if path != "sync":
        return client.get(address)
    return client.post(address, '{"attempt": 1, "events": []}', content_type="application/json")


@pytest.mark.parametrize("path", ["sync", "bundle", "datasets/sums@1"])
@pytest.mark.parametrize("told", [None, "1"])
def test_a_worker_that_fits(launch: Launch, told: str | None, path: str) -> None:
    run, _ = launch()
    found = answer(run, told, path)
    assert (found.status_code, found.headers[version.HEADER]) == (200, "1")
    assert Run.objects.get(pk=run.pk).state == "running"


@pytest.mark.parametrize("path", ["sync", "bundle", "datasets/sums@1"])
@pytest.mark.parametrize(
    ("told", "spoken", "sentence"),
    [
        (None, 2, OLD),
        ("1", 2, OLD),
        ("2", 1, NEW),
        ("soon", 1, "The cluster's worker sent 'soon' as its link version: that is not a version."),
    ],
)
def test_a_worker_that_does_not_fit(
    launch: Launch, monkeypatch: pytest.MonkeyPatch, told: str | None, spoken: int, sentence: str, path: str
) -> None:
    run, _ = launch()
    before = Event.objects.filter(run=run).count()
    speak(monkeypatch, spoken)
    for _ in range(2):
        found = answer(run, told, path)
        assert (found.status_code, found.headers[version.HEADER]) == (409, str(spoken))
        assert (found.json()["error"]["code"], found.json()["detail"][: len(sentence)]) == ("link_version", sentence)
    run.refresh_from_db()
    assert (run.state, run.state_reason[: len(sentence)]) == ("failed", sentence)
    assert Attempt.objects.get().fenced
    (event,) = Event.objects.filter(run=run).order_by("seq")[before:]
    assert (event.kind, event.data["to"], event.data["reason"]) == ("state", "failed", run.state_reason)


def test_a_stale_attempt_fails_nothing(launch: Launch) -> None:
    run, _ = launch()
    Attempt.objects.update(fenced=True)
    Attempt.objects.create(run=run, number=2, token_sha256="0" * 64, created_at=run.started_at)
    Run.objects.update(attempt=2)
    before = Run.objects.values().get(pk=run.pk)
    assert answer(run, "2").status_code == 409
    assert Run.objects.values().get(pk=run.pk) == before


def test_a_token_comes_before_a_version(launch: Launch) -> None:
    run, _ = launch()
    assert answer(run, "2", attempt=7).status_code == 401
    assert Run.objects.get(pk=run.pk).state == "running"


def test_a_run_that_is_being_cancelled_is_cancelled(launch: Launch, team: Team, actor: Actor) -> None:
    run, _ = launch()
    services.cancel_run(team, actor, run.id)
    assert answer(run, "2").status_code == 409
    run.refresh_from_db()
    assert (run.state, run.state_reason) == ("cancelled", NEW)


def test_a_failed_run_goes_on_once_the_workers_are_upgraded(
    launch: Launch, team: Team, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, worker = launch()
    worker.steps(1, 3)
    worker.checkpoint(2)
    speak(monkeypatch, 2)
    assert answer(run, None).status_code == 409
    services.resume_run(team, actor, run.id)
    sweep()
    assert answer(run, "2", "bundle", attempt=2).json()["resume"]["step"] == 2


@pytest.mark.django_db(transaction=True)
def test_the_worker_is_cut_off_when_the_platform_is_upgraded(
    live_server: Any, make_run: Callable[..., Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(start=True)
    sweep()
    token = link_token(run.id, 1)
    platform = Platform(live_server.url, token, run.id, tmp_path / "cache")
    assert platform.fetch_bundle()["run_id"] == run.id
    assert platform.objection is None
    link = Link(live_server.url, token, run.id, 1, Journal(tmp_path / "journal"))
    link.start()
    link.emit(StateData(state="running"), 0)
    assert link.flush(20)
    assert link.objection is None
    speak(monkeypatch, 2)
    wait_until(lambda: link.fenced is not None, 20)
    assert link.fenced == f"the platform answered 409: {OLD}"
    link.close()
    run.refresh_from_db()
    assert (run.state, run.state_reason) == ("failed", OLD)
    with pytest.raises(FencedError, match="refuses the bundle: 409: This cluster runs Dressage's link version 1"):
        platform.fetch_bundle()
    platform.close()
