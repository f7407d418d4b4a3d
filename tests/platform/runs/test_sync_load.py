"""What many syncs do: each takes few statements, and none loses or doubles an event."""

import math
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from dressage.runs.link import sync
from dressage.runs.link.pace import COUNTED_EVERY_S, LONGEST_S, SYNCS_PER_S, Pace
from dressage.runs.models import Attempt, Run
from dressage.runs.recovery.attempts import LEASE_S
from dressage.runs.sweep.reconcile import sweep
from dressage.telemetry import store
from dressage.telemetry.models import Event, Moment, Point
from tests.platform.runs.fixtures import Worker, step_event
from tests.platform.runs.test_concurrency import THREADS, at_once
from tests.support.about import PLATFORM

Launch = Callable[..., tuple[Run, Worker]]
METRICS: dict[str, Any] = {f"group/metric_{number}": number / 7 for number in range(60)}
SILENT, STEP = 6, 11
"""Statements of a sync with nothing to tell, and with a step; those that open and close its transaction count."""


def statements(act: Callable[[], Any]) -> list[str]:
    with CaptureQueriesContext(connection) as captured:
        act()
    return [one["sql"] for one in captured]


def test_a_sync_takes_few_statements(launch: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]  # by the wall clock, one of these syncs would count the runs where five seconds have just passed
    monkeypatch.setattr(sync, "pace", Pace(lambda: now[0]))
    _, worker = launch()
    worker.step(1, **METRICS)
    silent, step = statements(worker.sync), statements(lambda: worker.step(2, **METRICS))
    assert len(silent) <= SILENT, silent
    assert len(step) <= STEP, step
    assert not [sql for sql in silent + step if '"spec"' in sql or '"effective_spec"' in sql]
    now[0] += COUNTED_EVERY_S
    assert [len(statements(worker.sync)) - len(silent) for _ in range(2)] == [1, 0], "the runs are counted by one"


@pytest.mark.expensive(4, "walks over many requests", about=PLATFORM)
@pytest.mark.django_db(transaction=True)
def test_runs_that_sync_at_once_lose_and_double_nothing(make_run: Callable[..., Run], settings: Any) -> None:
    settings.MAX_ACTIVE_RUNS, steps = THREADS, 12
    runs = [make_run(f"r{number}", start=True) for number in range(THREADS)]
    sweep()
    workers = [Worker(run.id, 1) for run in runs]

    def train(index: int) -> None:
        """Each second answer is lost: its events are sent once more, together with the next ones."""
        worker = workers[index]
        worker.state("running")
        for step in range(1, steps + 1, 2):
            worker.step(step, **METRICS)
            lost = worker.last["events"]
            worker.repeat()
            worker.sync(step_event(step + 1, **METRICS))
            worker.post({**worker.last, "events": lost + worker.last["events"]})

    assert at_once(train) == [None] * THREADS
    for run in runs:
        told = Event.objects.filter(run=run, kind="step").order_by("seq").values_list("step", flat=True)
        assert list(told) == list(range(1, steps + 1))
        assert Moment.objects.filter(run=run).count() == steps
        assert Point.objects.filter(series__run=run).count() == steps * (len(METRICS) + 1)
        numbers = Event.objects.filter(run=run).order_by("seq").values_list("seq", flat=True)
        assert list(numbers) == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("steps", [3, 40])
def test_points_that_are_there_stay_as_they_are(launch: Launch, steps: int) -> None:
    """However many come: few go by one statement, many by COPY."""
    run, _ = launch()
    special = [math.inf, -math.inf, 5e-324, 1.7e308, -0.0]
    first = store.Bulk(points=[(step, 1, METRICS) for step in range(1, steps, 2)])
    again = {**dict.fromkeys(METRICS, 9.0), **{f"special_{number}": value for number, value in enumerate(special)}}
    second = store.Bulk(points=[(step, 1, again) for step in range(1, steps + 1)])
    assert (len(second.points) * len(again) > store.FEW) == (steps == 40)
    store.write(run.id, first, 0)
    store.write(run.id, second, 0)
    found = {(name, step): value for name, step, value in Point.objects.values_list("series__name", "step", "value")}
    assert len(found) == steps * len(again)
    assert {found["group/metric_7", step] for step in range(1, steps, 2)} == {1.0}
    assert {found["group/metric_7", step] for step in range(2, steps + 1, 2)} == {9.0}
    assert [found[f"special_{number}", steps] for number in range(len(special))] == special


@pytest.mark.expensive(7, "walks over many requests", about=PLATFORM)
def test_workers_are_asked_to_come_less_often_where_many_runs_are_at_work(
    launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, worker = launch()
    now = [0.0]
    monkeypatch.setattr(sync, "pace", Pace(lambda: now[0]))
    assert "pace_s" not in worker.sync()
    fields = Run.objects.filter(pk=run.id).values().get()
    copies = [Run(**{**fields, "id": f"run_{number}"}) for number in range(250)]
    Run.objects.bulk_create(copies)
    assert "pace_s" not in worker.sync(), "they are counted now and then alone"
    now[0] += COUNTED_EVERY_S
    assert worker.sync()["pace_s"] == 251 / SYNCS_PER_S
    Run.objects.bulk_create([Run(**{**fields, "id": f"run_more_{number}"}) for number in range(2000)])
    now[0] += COUNTED_EVERY_S
    answer = worker.sync()
    assert (answer["pace_s"], answer["lease_s"]) == (LONGEST_S, LEASE_S + LONGEST_S)
    ends = Attempt.objects.filter(run=run, lease_expires_at__gt=F("last_sync_at") + timedelta(seconds=LEASE_S))
    assert ends.exists(), "who is asked to come late is not believed dead for it"
