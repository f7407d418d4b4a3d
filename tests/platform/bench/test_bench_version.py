"""Workers of another version of the link get no bench job, and the job says why."""

from collections.abc import Callable
from typing import Any

import pytest

from dressage.bench.models import BenchJob
from dressage.cluster_jobs.life import job_token
from tests.platform.bench.fixtures import BenchWorker, bench_score
from trainer_core.link import version
from worker.jobs.bench.work import BenchWork

NEW = "This cluster runs Dressage's link version 2, the platform runs 1: upgrade the platform."
OLD = "This cluster runs Dressage's link version 1, the platform runs 2: upgrade the cluster's workers."
Start = Callable[..., Any]
Read = Callable[[str], Any]


@pytest.mark.parametrize("told", [None, "1"])
def test_a_worker_that_fits(start_bench: Start, read_bench: Read, told: str | None) -> None:
    job = start_bench()
    worker = BenchWorker(job["id"])
    worker.client.credentials(**({} if told is None else {"HTTP_DRESSAGE_LINK_VERSION": told}))
    worker.take()
    worker.renew()
    worker.answer(results=[[bench_score(1.0), bench_score(0.0)]])
    assert read_bench(job["id"])["state"] == "done"


@pytest.mark.parametrize(("told", "spoken", "sentence"), [(None, 2, OLD), ("1", 2, OLD), ("2", 1, NEW)])
@pytest.mark.parametrize("call", ["take", "renew", "answer"])
def test_a_worker_that_does_not_fit(
    start_bench: Start,
    read_bench: Read,
    monkeypatch: pytest.MonkeyPatch,
    told: str | None,
    spoken: int,
    sentence: str,
    call: str,
) -> None:
    job = start_bench()
    monkeypatch.setattr(version, "LINK_VERSION", spoken)
    monkeypatch.setattr(version, "SPOKEN", frozenset({spoken}))
    worker = BenchWorker(job["id"])
    worker.client.credentials(**({} if told is None else {"HTTP_DRESSAGE_LINK_VERSION": told}))
    refused = getattr(worker, call)(409)
    assert (refused["error"]["code"], refused["detail"]) == ("link_version", sentence)
    failed = read_bench(job["id"])
    assert (failed["state"], failed["error"], failed["results"]) == ("failed", sentence, None)


@pytest.mark.django_db(transaction=True)
def test_the_workers_own_link_is_refused_too(
    live_server: Any, start_bench: Start, read_bench: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = start_bench()
    monkeypatch.setattr(version, "header", lambda: {version.HEADER: "2"})
    BenchWork(job["id"], live_server.url, job_token(BenchJob, job["id"]), fenced=lambda: None).run()
    assert (read_bench(job["id"])["state"], read_bench(job["id"])["error"]) == ("failed", NEW)
    assert BenchJob.objects.get().tries == 0
