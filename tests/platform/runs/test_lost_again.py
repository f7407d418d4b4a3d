"""Attempts that are lost in a row: an incident until a checkpoint is written, and nothing after one loss."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import TestCase
from rest_framework.test import APIClient

from dressage.runs.models import Run
from dressage.runs.sweep import reconcile
from tests.platform.runs.fixtures import Worker, expire_lease

Launch = Callable[..., tuple[Run, Worker]]


@pytest.fixture
def seen(api: Callable[..., APIClient]) -> Callable[[Run], tuple[str, list[str], list[tuple[str, str]]]]:
    """Returns a run's health, the names of its findings, and its open incidents."""
    viewer = api("viewer")

    def look(run: Run) -> tuple[str, list[str], list[tuple[str, str]]]:
        health = viewer.get(f"/api/v1/runs/{run.id}").json()["health"]
        incidents: list[dict[str, Any]] = viewer.get(f"/api/v1/runs/{run.id}/incidents").json()["data"]
        still = [(one["kind"], one["title"]) for one in incidents if one["state"] == "open"]
        return health["state"], [one["guard"] for one in health["findings"]], still

    return look


def lose(run: Run) -> None:
    expire_lease(run)
    with TestCase.captureOnCommitCallbacks(execute=True):
        reconcile.sweep()


def test_two_losses_in_a_row_are_an_incident_until_a_checkpoint(launch: Launch, seen: Any) -> None:
    run, worker = launch()
    worker.steps(1, 3)
    lose(run)
    assert seen(run) == ("ok", [], []), "one loss is what attempts are for"
    second = Worker(run.id, 2)
    second.state("starting")
    second.state("running")
    second.steps(1, 2)
    lose(run)
    assert seen(run) == ("error", ["attempts lost"], [("restart", "Attempts are lost in a row")])
    run.refresh_from_db()
    assert run.findings[0]["message"].startswith("2 attempts in a row were lost after step 0 and before a checkpoint")
    third = Worker(run.id, 3)
    third.state("starting")
    third.state("running")
    third.steps(1, 5)
    assert seen(run)[0] == "error", "steps alone are lost again"
    third.checkpoint(5)
    assert seen(run) == ("ok", [], [])
    lose(run)
    assert seen(run) == ("ok", [], []), "there was a checkpoint between"
