"""Several of everything at the same moment: one wins, the others find it done."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import close_old_connections, connection

from dressage.common.actors import Actor
from dressage.common.api.problems import Problem
from dressage.runs.models import Attempt, Control, Run
from dressage.runs.steer.staging import stage_control
from dressage.runs.sweep.reconcile import sweep
from dressage.teams.models import Team
from dressage.telemetry.models import Event, Point
from tests.platform.runs.fixtures import Worker, expire_lease, step_event

pytestmark = pytest.mark.django_db(transaction=True)
THREADS = 4


def at_once(act: Callable[[int], Any]) -> list[Any]:
    """Run ``act`` in several threads that begin together. Gives what each returned or raised."""
    start, results = threading.Barrier(THREADS), [None] * THREADS

    def run(index: int) -> None:
        start.wait(timeout=20)
        try:
            results[index] = act(index)
        except Exception as error:
            results[index] = error
        finally:
            close_old_connections()
            connection.close()

    threads = [threading.Thread(target=run, args=(index,)) for index in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    return results


def test_one_place_is_given_once(make_run: Callable[..., Run]) -> None:
    runs = [make_run(f"r{number}", start=True) for number in range(3)]
    assert at_once(lambda _: sweep()) == [None] * THREADS
    assert [Run.objects.get(pk=run.pk).state for run in runs] == ["starting", "queued", "queued"]
    assert Attempt.objects.count() == 1


def test_one_lost_lease_is_one_new_attempt(make_run: Callable[..., Run]) -> None:
    run = make_run(start=True)
    sweep()
    Worker(run.id, 1).state("running")
    expire_lease(run)
    at_once(lambda _: sweep())
    assert list(Attempt.objects.order_by("number").values_list("number", "fenced")) == [(1, True), (2, False)]


def test_one_sync_delivered_at_once_counts_once(make_run: Callable[..., Run]) -> None:
    run = make_run(start=True)
    sweep()
    worker = Worker(run.id, 1)
    worker.state("running")
    event = {"at": "2026-11-21T06:00:00Z", **step_event(1)}
    body = {"attempt": 1, "events": [{**event, "seq": 2}, {**event, **step_event(2), "seq": 3}], "applied": []}
    answers = at_once(lambda _: worker.post(body))
    assert [answer["acked_seq"] for answer in answers] == [3] * THREADS
    assert Point.objects.count() == 2
    sequence = list(Event.objects.filter(run=run).order_by("seq").values_list("seq", flat=True))
    assert sequence == list(range(1, len(sequence) + 1))


def test_of_two_people_one_is_told(make_run: Callable[..., Run], team: Team, actor: Actor) -> None:
    run = make_run(start=True)

    def steer(index: int) -> Any:
        return stage_control(team, actor, run.id, revision=0, target="thinking.budget", value=5 + index)

    results = at_once(steer)
    refused = [result for result in results if isinstance(result, Problem)]
    assert [problem.status for problem in refused] == [412] * (THREADS - 1)
    assert [change["value"] for change in refused[0].extra["changes"]] == [Control.objects.get().value]
