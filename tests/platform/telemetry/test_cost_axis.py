"""The axes of GPU hours and cost: float64 exact, right over attempts and pauses, one with the cost of the run."""

from collections.abc import Callable
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.runs.facts.costs import costs_of
from dressage.runs.models import Attempt, GpuSpan, Run
from dressage.runs.sweep.reconcile import sweep
from tests.platform.runs.fixtures import Worker, expire_lease, step_event

Launch = Callable[..., tuple[Run, Worker]]
Span = tuple[float, float, float]
KEY = "critic/score/mean"


@pytest.fixture
def read(launch: Launch, api: Callable[..., APIClient]) -> Any:
    """``read(run, x, **query)``: the run's score over an axis."""
    viewer = api("viewer")

    def read(run: Run, x: str, **query: Any) -> Any:
        response = viewer.get(f"/api/v1/runs/{run.id}/metrics", {"keys": KEY, "x": x, **query})
        assert response.status_code == 200, response.content
        return response.json()["series"][KEY]

    return read


def trained(worker: Worker, start: datetime, seconds: dict[int, float]) -> None:
    """Steps that were done so many seconds after the start."""
    at = {step: (start + timedelta(seconds=after)).isoformat() for step, after in seconds.items()}
    worker.sync(*({**step_event(step), "at": at[step]} for step in seconds))


def holds(run: Run, number: int, start: datetime, first: float, now: Span, *before: Span) -> None:
    """Seconds after the start: what the attempt holds from when to its end, and what it has held before."""

    def at(seconds: float) -> datetime:
        return start + timedelta(seconds=seconds)

    gpus, since, until = now
    attempts = Attempt.objects.filter(run=run, number=number)
    attempts.update(
        first_sync_at=at(first), gpus=gpus, gpus_since=at(since), ended_at=at(until), lease_expires_at=at(until + 5)
    )
    GpuSpan.objects.filter(attempt__in=attempts).delete()
    for held, begun, end in before:
        GpuSpan.objects.create(attempt=attempts.get(), gpus=held, since=at(begun), until=at(end))


def hours(spans: list[Span], until: float) -> float:
    """The same in exact arithmetic."""
    held = (
        Fraction(gpus) * max(Fraction(0), Fraction(min(until, end)) - Fraction(since)) for gpus, since, end in spans
    )
    return float(sum(held) / 3600)


def test_hours_count_all_attempts_and_pauses(launch: Launch, read: Any, settings: Any) -> None:
    """Two GPUs, a pause without any, then five; the second attempt does steps again that the first has done."""
    settings.GPU_HOUR_PRICE = 2.5
    run, first = launch()
    assert run.started_at is not None
    start = run.started_at.replace(microsecond=0)
    trained(first, start, {1: 100.25, 2: 150.5})
    first.checkpoint(2)
    trained(first, start, {3: 500.125, 4: 600})
    expire_lease(run)
    sweep()
    second = Worker(run.id, 2)
    trained(second, start, {3: 900, 4: 1000.75, 5: 2000})
    spans: list[Span] = [(2.0, 10, 200), (5.0, 400, 610.5), (0.5, 800, 1990)]
    holds(run, 1, start, 10, spans[1], spans[0])
    holds(run, 2, start, 790, spans[2])

    at = {1: 100.25, 2: 150.5, 3: 900, 4: 1000.75, 5: 2000}
    expected = [hours(spans, seconds) for seconds in at.values()]
    found = read(run, "gpu_hours")
    assert found["x"] == pytest.approx(expected, rel=1e-15)
    assert found["mean"] == [0.01, 0.02, 0.03, 0.04, 0.05]
    assert found["x"][2] - found["x"][1] > hours(spans, 610.5) - hours(spans, 150.5), "what was lost is paid as well"
    assert read(run, "cost")["x"] == pytest.approx([2.5 * one for one in expected], rel=1e-15)

    [whole] = costs_of([run])
    assert whole["gpu_hours"] == pytest.approx(hours(spans, 10_000), rel=1e-15)
    assert found["x"][-1] == pytest.approx(whole["gpu_hours"], rel=1e-15), "the run ended before its last step's time"
    window = {"from": expected[1], "to": expected[3]}
    assert read(run, "gpu_hours", **window)["mean"] == [0.02, 0.03, 0.04]
    halves = read(run, "gpu_hours", max_points=2)
    assert sum(one is not None for one in halves["mean"]) <= 2
    assert halves["raw_count"] == 5


def test_a_run_without_gpus_stands_at_zero(launch: Launch, read: Any) -> None:
    run, worker = launch()
    worker.steps(1, 3)
    Attempt.objects.filter(run=run).update(gpus=0.0)
    GpuSpan.objects.all().delete()
    assert read(run, "gpu_hours")["x"] == [0.0]


def test_a_cost_needs_a_price(launch: Launch, api: Callable[..., APIClient], settings: Any) -> None:
    settings.GPU_HOUR_PRICE = None
    run, _ = launch()
    response = api("viewer").get(f"/api/v1/runs/{run.id}/metrics", {"keys": KEY, "x": "cost"})
    assert (response.status_code, response.json()["error"]["code"]) == (422, "no_price")
    assert response.json()["errors"][0]["pointer"] == "/x"
    assert "gpu_hours" in response.json()["detail"]
