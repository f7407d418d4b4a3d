"""A run's prompt ledger, as its worker reports it and as the API shows it."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.runs.models import Run
from dressage.telemetry.models import Event
from tests.platform.runs.fixtures import Worker, step_event

LEDGER = {
    "handed_out": 12,
    "trained": 6,
    "rejected": {"truncated": 2, "dynamic_sampling": 1},
    "dropped": {"reward_error": 1},
    "pending": 2,
    "earlier": 0,
}


def with_ledger(step: int, **changes: Any) -> dict[str, Any]:
    event = step_event(step)
    event["data"]["ledger"] = {**LEDGER, **changes}
    return event


def shown(client: APIClient, run: Run) -> Any:
    answer = client.get(f"/api/v1/runs/{run.id}")
    assert answer.status_code == 200
    return answer.json()["ledger"]


@pytest.fixture
def viewer(api: Callable[..., APIClient]) -> APIClient:
    return api("viewer")


def test_the_newest_ledger_is_the_runs(launch: Callable[..., tuple[Run, Worker]], viewer: APIClient) -> None:
    run, worker = launch()
    assert shown(viewer, run) is None
    worker.sync(with_ledger(1, handed_out=10, pending=0))
    worker.sync(with_ledger(2))
    assert shown(viewer, run) == {"step": 2, **LEDGER}
    listed = viewer.get("/api/v1/runs").json()["data"]
    assert [one["ledger"] for one in listed if one["id"] == run.id] == [{"step": 2, **LEDGER}]
    stored = Event.objects.filter(run=run, kind="step").order_by("seq").last()
    assert stored is not None and stored.data["ledger"] == LEDGER, "each step keeps its own"


def test_workers_of_earlier_releases_report_none(launch: Callable[..., tuple[Run, Worker]], viewer: APIClient) -> None:
    run, worker = launch()
    worker.step(1)
    assert shown(viewer, run) is None
    worker.sync(with_ledger(2))
    worker.step(3)
    assert shown(viewer, run) is None, "a figure of an older step would be wrong"


@pytest.mark.parametrize(
    "wrong",
    [
        {"handed_out": -1},
        {"trained": "many"},
        {"dropped": {"": 1}},
        {"rejected": {"x": -1}},
        {"rejected": {"x" * 121: 1}},
    ],
)
def test_a_ledger_that_makes_no_sense_is_told_as_an_error(
    launch: Callable[..., tuple[Run, Worker]], viewer: APIClient, wrong: dict[str, Any]
) -> None:
    run, worker = launch()
    worker.sync(with_ledger(1, **wrong))
    assert shown(viewer, run) is None
    assert "unreadable step event" in Event.objects.filter(run=run, kind="log").latest("seq").data["message"]
