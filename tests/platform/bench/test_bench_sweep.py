"""The sweep of bench jobs: lost messages and lost workers only delay, up to a limit."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from django.test import TestCase

from dressage.bench.models import BenchJob
from dressage.jobs.tasks import sweep_jobs
from tests.platform.bench.fixtures import BenchWorker, bench_score
from tests.platform.jobs import age

GOOD = {"results": [[bench_score(1.0), bench_score(0.0)]]}


def sweep() -> None:
    with TestCase.captureOnCommitCallbacks(execute=True):
        sweep_jobs()


def test_a_lost_message_is_sent_again(start_bench: Callable[..., Any], enqueued: list[str]) -> None:
    job = start_bench()["id"]
    sweep()
    assert enqueued == [], "it was enqueued a moment ago"
    age(BenchJob, job, rung_at=11)
    sweep()
    assert enqueued == [job]
    sweep()
    assert enqueued == [job]
    BenchWorker(job).take()
    age(BenchJob, job, rung_at=11)
    sweep()
    assert enqueued == [job], "a worker has it"


def test_a_lost_worker_is_replaced_twice(start_bench: Callable[..., Any], enqueued: list[str]) -> None:
    job = start_bench()["id"]
    for number in (1, 2, 3):
        BenchWorker(job).take()
        found = BenchJob.objects.get()
        assert (found.state, found.tries) == ("running", number)
        age(BenchJob, job, lease_expires_at=1)
        sweep()
    found = BenchJob.objects.get()
    assert (found.state, found.error) == ("failed", "3 workers were lost while they scored it.")
    assert enqueued == [job, job]
    BenchWorker(job).take(409)
    assert BenchWorker(job).renew(409)["error"]["code"] == "job_is_over"
    BenchWorker(job).answer(409, **GOOD)


def test_a_worker_that_is_late_may_still_answer(start_bench: Callable[..., Any], enqueued: list[str]) -> None:
    job = start_bench()["id"]
    BenchWorker(job).take()
    age(BenchJob, job, lease_expires_at=1)
    sweep()
    assert BenchJob.objects.get().state == "queued"
    assert BenchWorker(job).answer(**GOOD) == {"state": "done"}
    sweep()
    assert BenchJob.objects.get().state == "done"


@pytest.mark.parametrize("again", ["take", "renew"])
def test_who_takes_again_or_renews_keeps_the_lease(start_bench: Callable[..., Any], again: str) -> None:
    job = start_bench()["id"]
    document = BenchWorker(job).take()
    age(BenchJob, job, lease_expires_at=1)
    answer = getattr(BenchWorker(job), again)()
    assert answer == (document if again == "take" else {"lease_s": document["lease_s"]})
    sweep()
    found = BenchJob.objects.get()
    assert (found.state, found.tries) == ("running", 1)
    assert BenchJob.objects.filter(lease_expires_at__gt=Now() + timedelta(seconds=document["lease_s"] - 5)).exists()


def test_a_job_that_nobody_takes_fails(start_bench: Callable[..., Any], enqueued: list[str]) -> None:
    job = start_bench()["id"]
    age(BenchJob, job, created_at=601)
    sweep()
    found = BenchJob.objects.get()
    assert (found.state, found.error) == (
        "failed",
        "No worker of the cluster has taken the job within 10 minutes: is it running?",
    )


def test_a_worker_that_hangs_has_an_hour(start_bench: Callable[..., Any], enqueued: list[str]) -> None:
    job = start_bench()["id"]
    BenchWorker(job).take()
    age(BenchJob, job, started_at=3601)
    sweep()
    assert BenchJob.objects.get().error == "The job did not finish within an hour."
    BenchWorker(job).take(409)


def test_old_jobs_are_forgotten(start_bench: Callable[..., Any]) -> None:
    kept, old, hidden, fresh = (start_bench()["id"] for _ in range(4))
    BenchJob.objects.filter(pk__in=(hidden, fresh)).update(hidden=True)
    for job, days in ((kept, 29), (old, 31), (hidden, 2), (fresh, 0)):
        BenchJob.objects.filter(pk=job).update(state="done")
        age(BenchJob, job, created_at=days * 86_400 + 60)
    sweep()
    assert set(BenchJob.objects.values_list("id", flat=True)) == {kept, fresh}
