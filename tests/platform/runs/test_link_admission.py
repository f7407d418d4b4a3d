"""Tokens are given to the cluster alone: who proves to share its secret, for work that has not begun."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.bench.models import BenchJob
from dressage.cluster_jobs.life import job_token
from dressage.runs.models import Attempt, Run
from dressage.runs.sweep.reconcile import sweep
from dressage.runs.tokens import link_token
from tests.platform.bench.fixtures import BenchWorker, bench_score, start_bench
from tests.platform.runs.fixtures import Worker
from trainer_core.link import version
from trainer_core.link.admission import attempt_path, proof
from trainer_core.link.jobs import BENCH
from worker.errors import ClusterError, FencedError
from worker.link.admission import fetch_token

__all__ = ["start_bench"]

Launch = Callable[..., tuple[Run, Worker]]


@pytest.fixture
def starting(make_run: Callable[..., Run]) -> Run:
    """A run whose first attempt waits for a worker."""
    run = make_run(start=True)
    sweep()
    run.refresh_from_db()
    return run


def post(path: str, authorization: str, **headers: str) -> Any:
    return APIClient(headers={"Authorization": authorization, **headers}).post(path)


@pytest.fixture
def cluster(settings: Any) -> Callable[..., Any]:
    """``cluster(path)``: the answer to a worker of the cluster."""

    def ask(path: str, **headers: str) -> Any:
        return post(path, f"Cluster {proof(settings.CLUSTER_SECRET, settings.LINK_URL, path)}", **headers)

    return ask


def test_an_attempt_is_given_its_token_until_it_begins(starting: Run, cluster: Callable[..., Any]) -> None:
    path = attempt_path(starting.id, 1)
    for _ in range(2):  # the first answer may be lost
        response = cluster(path)
        assert (response.status_code, response.json()) == (200, {"token": link_token(starting.id, 1)})
    Worker(starting.id, 1).state("starting")
    refused = cluster(path)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "token_taken")


def test_a_bench_job_is_given_its_token_until_it_is_taken(
    start_bench: Callable[..., Any], cluster: Callable[..., Any]
) -> None:
    job = start_bench()["id"]
    response = cluster(BENCH.token_address(job))
    assert (response.status_code, response.json()) == (200, {"token": job_token(BenchJob, job)})
    BenchWorker(job).take()
    assert cluster(BENCH.token_address(job)).json()["error"]["code"] == "token_taken"
    BenchWorker(job).answer(results=[[bench_score(1.0), bench_score(0.0)]])
    assert cluster(BENCH.token_address(job)).json()["error"]["code"] == "token_taken"


def test_nobody_else_is_given_a_token(
    starting: Run, start_bench: Callable[..., Any], settings: Any, api: Callable[..., APIClient]
) -> None:
    job = start_bench()["id"]
    path = attempt_path(starting.id, 1)
    secret, url = settings.CLUSTER_SECRET, settings.LINK_URL
    before = list(Attempt.objects.values()) + list(BenchJob.objects.values())
    for authorization in (
        "",
        "Cluster",
        "Cluster ",
        f"Cluster {secret}",
        f"Bearer {proof(secret, url, path)}",
        f"Bearer {link_token(starting.id, 1)}",
        f"Bearer {job_token(BenchJob, job)}",
        f"Cluster {proof('another secret', url, path)}",
        f"Cluster {proof(secret, 'http://elsewhere.test', path)}",
        f"Cluster {proof(secret, url, attempt_path(starting.id, 2))}",
        "Cluster \N{LATIN SMALL LETTER E WITH ACUTE}",
    ):
        for asked in (path, BENCH.token_address(job)):
            refused = post(asked, authorization)
            assert refused.status_code == 401, (authorization, asked)
            assert "lnk_" not in refused.content.decode() and "bnc_" not in refused.content.decode()
    assert api("admin").post(path).status_code == 401
    assert [*Attempt.objects.values(), *BenchJob.objects.values()] == before


def test_work_that_is_not_there(starting: Run, cluster: Callable[..., Any]) -> None:
    for path in (attempt_path(starting.id, 2), attempt_path("run_none", 1), BENCH.token_address("bench_none")):
        assert cluster(path).status_code == 404


def test_a_worker_that_speaks_another_version_fails_the_run_in_words(
    starting: Run, cluster: Callable[..., Any]
) -> None:
    refused = cluster(attempt_path(starting.id, 1), **{version.HEADER: "9"})
    assert refused.status_code == 409
    starting.refresh_from_db()
    assert starting.state == "failed" and "link version 9" in starting.state_reason


@pytest.mark.django_db(transaction=True)
def test_the_workers_own_request(
    live_server: Any,
    starting: Run,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Any,
    caplog: pytest.LogCaptureFixture,
) -> None:
    settings.LINK_URL = live_server.url
    path = attempt_path(starting.id, 1)
    file = tmp_path / "secret"
    file.write_text(settings.CLUSTER_SECRET + "\n")
    monkeypatch.setenv("DRESSAGE_CLUSTER_SECRET_FILE", str(file))
    assert fetch_token(live_server.url, path) == link_token(starting.id, 1)
    with pytest.raises(FencedError, match="the platform issues no token: 404"):
        fetch_token(live_server.url, attempt_path(starting.id, 2))
    monkeypatch.setenv("DRESSAGE_CLUSTER_SECRET", "another secret of another cluster")
    with pytest.raises(ClusterError, match=r"DRESSAGE_CLUSTER_SECRET .* is missing there or wrong here"):
        fetch_token(live_server.url, path)
    (line,) = (record for record in caplog.records if record.name == "dressage.runs.link.cluster")
    assert (line.levelname, line.getMessage().partition(":")[0]) == (
        "WARNING",
        f"a request for a token is refused at {path!r}",
    )
    monkeypatch.delenv("DRESSAGE_CLUSTER_SECRET")
    file.unlink()
    with pytest.raises(ClusterError, match="cannot be read from"):
        fetch_token(live_server.url, path)
    monkeypatch.delenv("DRESSAGE_CLUSTER_SECRET_FILE")
    with pytest.raises(ClusterError, match="cannot authenticate"):
        fetch_token(live_server.url, path)
    monkeypatch.setenv("DRESSAGE_CLUSTER_SECRET", settings.CLUSTER_SECRET)
    with pytest.raises(ClusterError, match="issues no token: ConnectError"):
        fetch_token("http://127.0.0.1:9", path)
