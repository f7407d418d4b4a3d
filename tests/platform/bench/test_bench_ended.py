"""The token of a bench job ends with the job."""

from collections.abc import Callable
from typing import Any

import pytest

from dressage.bench.models import BenchJob
from dressage.cluster_jobs.life import fail_open
from tests.platform.bench.fixtures import BenchWorker, bench_score

GOOD = [[bench_score(1.0), bench_score(0.0)]]
ENDS: dict[str, Callable[[BenchWorker, str], Any]] = {
    "done": lambda worker, job: worker.answer(results=GOOD),
    "failed": lambda worker, job: worker.answer(error="no jail"),
    "given up": lambda worker, job: fail_open(BenchJob, job, "lost"),
}
ENDPOINTS: dict[str, Callable[[BenchWorker], Any]] = {
    "take": lambda worker: worker.take(409),
    "lease": lambda worker: worker.renew(409),
    "other results": lambda worker: worker.answer(409, results=[[bench_score(0.5), bench_score(0.5)]]),
    "error": lambda worker: worker.answer(409, error="late"),
}


@pytest.mark.parametrize("endpoint", ENDPOINTS)
@pytest.mark.parametrize("end", ENDS)
def test_no_endpoint_answers_the_token_of_a_job_that_is_over(
    start_bench: Callable[..., Any], end: str, endpoint: str
) -> None:
    job = start_bench()["id"]
    worker = BenchWorker(job)
    worker.take()
    ENDS[end](worker, job)
    before = list(BenchJob.objects.values())
    assert ENDPOINTS[endpoint](worker)["error"]["code"] == "job_is_over"
    assert list(BenchJob.objects.values()) == before


def test_a_worker_that_did_not_hear_the_answer_is_answered(start_bench: Callable[..., Any]) -> None:
    job = start_bench()["id"]
    worker = BenchWorker(job)
    worker.take()
    worker.answer(results=GOOD)
    before = list(BenchJob.objects.values())
    assert worker.answer(results=GOOD) == {"state": "done"}
    assert list(BenchJob.objects.values()) == before
