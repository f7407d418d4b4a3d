"""Jobs of several clusters: bench jobs and rehearsals go where people want them, else where there is room."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import TestCase
from rest_framework.test import APIClient

from dressage.bench.models import BenchJob
from dressage.cluster_jobs.clusters import choose_for_job
from dressage.cluster_jobs.sweep import ago
from dressage.clusters.models import Cluster
from dressage.clusters.selectors import SILENT_S
from dressage.clusters.services import take_report
from dressage.clusters.sizes import ClusterSize
from dressage.common.actors import Actor
from dressage.jobs.tasks import sweep_jobs
from dressage.rehearsals.models import Rehearsal
from dressage.runs.facts.places import sizes
from dressage.runs.life.services import update_run
from dressage.runs.models import Run
from dressage.runs.sweep.reconcile import sweep
from dressage.teams.models import Team
from tests.platform.bench.fixtures import DEFINITION, PASTED, BenchWorker
from tests.platform.jobs import age
from tests.platform.rehearsals.fixtures import RehearsalWorker, report
from tests.platform.runs.fixtures import spec_document
from trainer_core.link.cluster import ClusterReport, GpuKind
from trainer_core.planning.reservation import Reservation

BENCH, REHEARSALS = "/api/v1/rewards/bench", "/api/v1/rehearsals"
SCORE = {"definitions": [{"definition": DEFINITION}], "samples": PASTED, "probes": False}


def told(cpus: float = 8, gpus: float = 0, free: float = 0) -> ClusterReport:
    kinds = (GpuKind(kind="H100", total=gpus, free=free),) if gpus else ()
    return ClusterReport(ray_version="2.60.0", nodes=1, cpus=cpus, cpus_free=cpus, gpus=kinds)


@pytest.fixture
def two(settings: Any, nouns: Path) -> None:
    """An installation with two clusters whose workers answer."""
    settings.CLUSTERS = ("here", "far")
    for name in settings.CLUSTERS:
        take_report(name, told())


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """(id of the job, queue) of every message."""
    from dressage.celery import app

    found: list[tuple[str, str]] = []
    monkeypatch.setattr(app, "send_task", lambda _, kwargs, queue, **__: found.append((kwargs.get("job_id"), queue)))
    return found


@pytest.fixture
def ask(api: Callable[..., APIClient], two: None) -> Callable[..., Any]:
    """``ask(path, status=202, **body)``: the answer; messages are sent."""
    client = api("editor")

    def post(path: str, status: int = 202, **body: Any) -> Any:
        usual = SCORE if path == BENCH else {"spec": spec_document()}
        with TestCase.captureOnCommitCallbacks(execute=True):
            answer = client.post(path, {**usual, **body}, format="json")
        assert answer.status_code == status, answer.content
        return answer.json()

    return post


def round_of(sweep: Callable[[], None]) -> None:
    with TestCase.captureOnCommitCallbacks(execute=True):
        sweep()


def silence(name: str) -> None:
    Cluster.objects.filter(name=name).update(answered_at=ago(SILENT_S + 1))


def size(name: str, gpus: float = 0, free: float = 0, **more: Any) -> ClusterSize:
    return ClusterSize(name, **{"places": 4, "report": told(gpus=gpus, free=free), **more})


WIDE = Reservation(4, 2)


@pytest.mark.parametrize(
    ("found", "at_work", "given", "chosen"),
    [
        ([size("a"), size("b")], {}, {}, "a"),
        ([size("a", taken=1), size("b")], {}, {}, "b"),
        ([size("a"), size("b", taken=3)], {"a": 1}, {}, "b"),
        ([size("a"), size("b", taken=4)], {"a": 1}, {}, "a"),
        ([size("a", away=True), size("b", taken=4)], {"b": 9}, {}, "b"),
        ([size("a", away=True)], {}, {}, "a"),
        ([size("a", away=True), size("b")], {}, {"full": ["b"]}, None),
        ([size("a", report=told(cpus=2)), size("b", taken=4)], {}, {"run": WIDE}, "b"),
        ([size("a", gpus=4, free=0), size("b", gpus=1, free=1, taken=3)], {}, {"devices": 1}, "b"),
        ([size("a", gpus=4, free=0), size("b", taken=3)], {}, {"devices": 1}, "b"),
        ([size("a", gpus=1, free=1), size("b", gpus=2, taken=4)], {}, {"devices": 2}, "b"),
    ],
)
def test_a_job_goes_where_there_is_room(
    found: list[ClusterSize], at_work: dict[str, int], given: dict[str, Any], chosen: str | None
) -> None:
    assert choose_for_job("", found, at_work, **given) == chosen


def test_the_one_that_people_chose_is_taken_whatever_its_room() -> None:
    assert choose_for_job("b", [size("a"), size("b", taken=4, away=True)], {"b": 9}) == "b"


@pytest.mark.parametrize("path", [BENCH, REHEARSALS])
def test_a_job_names_its_cluster_and_tells_where_it_is(
    ask: Callable[..., Any], sent: list[tuple[str, str]], path: str
) -> None:
    refused = ask(path, 422, cluster="nowhere")
    assert refused["errors"] == [
        {"pointer": "/cluster", "detail": "There is no cluster 'nowhere'; choose from here, far."}
    ]
    assert (BenchJob.objects.count(), Rehearsal.objects.count(), sent) == (0, 0, [])
    named, other = ask(path, cluster="far"), ask(path)
    assert (named["cluster"], other["cluster"]) == ("far", None)
    assert sent == [(named["id"], "cluster-far"), (other["id"], "cluster-here")]
    model: Any = BenchJob if path == BENCH else Rehearsal
    assert dict(model.objects.values_list("id", "placed_on")) == {named["id"]: "far", other["id"]: "here"}


def test_a_bench_job_leaves_a_cluster_that_falls_silent(ask: Callable[..., Any], sent: list[tuple[str, str]]) -> None:
    free, bound = ask(BENCH)["id"], ask(BENCH, cluster="here")["id"]
    for moment in range(2):
        for job in (free, bound):
            age(BenchJob, job, rung_at=11)
        if moment:
            silence("here")
        sent.clear()
        round_of(sweep_jobs)
        assert dict(sent) == {free: "cluster-far" if moment else "cluster-here", bound: "cluster-here"}
    age(BenchJob, bound, created_at=601)
    round_of(sweep_jobs)
    assert BenchJob.objects.get(pk=bound).error == (
        "No worker of the cluster “here” has taken the job within 10 minutes: is it running?"
    )


def test_a_lost_bench_worker_is_replaced_where_somebody_answers(
    ask: Callable[..., Any], sent: list[tuple[str, str]]
) -> None:
    job = ask(BENCH)["id"]
    BenchWorker(job).take()
    age(BenchJob, job, lease_expires_at=1)
    take_report("here", ClusterReport(fault="The Ray cluster at 10.0.0.1:6379 cannot be reached."))
    round_of(sweep_jobs)
    assert sent == [(job, "cluster-here"), (job, "cluster-far")]


def test_each_cluster_holds_a_rehearsal(
    ask: Callable[..., Any], api: Callable[..., APIClient], sent: list[tuple[str, str]]
) -> None:
    first, second, third = ask(REHEARSALS)["id"], ask(REHEARSALS, cluster="here")["id"], ask(REHEARSALS)["id"]
    assert sent == [(first, "cluster-here"), (third, "cluster-far")], "the second wants where the first is"
    waiting = api("viewer").get(f"{REHEARSALS}/{second}").json()
    assert (waiting["ahead"], waiting["cluster"], waiting["placed_on"]) == (1, "here", None)
    worker = RehearsalWorker(first)
    worker.take()
    worker.answer(report=report(1.0, 0.0))
    round_of(sweep_jobs)
    assert sent[2:] == [(second, "cluster-here")]


def test_a_rehearsal_leaves_a_cluster_that_falls_silent(ask: Callable[..., Any], sent: list[tuple[str, str]]) -> None:
    free, held = ask(REHEARSALS)["id"], ask(REHEARSALS, cluster="far")["id"]
    age(Rehearsal, free, rung_at=11)
    silence("here")
    round_of(sweep_jobs)
    assert sent == [(free, "cluster-here"), (held, "cluster-far")]
    assert Rehearsal.objects.get(pk=free).placed_at is None, "it waits for the place on the other"
    Rehearsal.objects.filter(pk=held).update(state="done")
    round_of(sweep_jobs)
    assert sent[2:] == [(free, "cluster-far")]


@pytest.mark.parametrize("path", [BENCH, REHEARSALS])
def test_a_job_whose_cluster_is_gone_says_so(
    ask: Callable[..., Any], settings: Any, sent: list[tuple[str, str]], path: str
) -> None:
    job = ask(path, cluster="far")["id"]
    settings.CLUSTERS = ("here",)
    model: Any = BenchJob if path == BENCH else Rehearsal
    age(model, job, rung_at=11)
    round_of(sweep_jobs)
    found = model.objects.get()
    expected = "The cluster “far” is no longer in this installation: choose another."
    assert (found.state, found.error) == ("failed", expected)


def test_a_rehearsal_of_a_run_is_held_where_the_run_goes(
    ask: Callable[..., Any], make_run: Callable[..., Run], team: Team, other_team: Team, actor: Actor
) -> None:
    run = make_run()
    assert ask(REHEARSALS, run=run.id)["cluster"] is None
    Rehearsal.objects.all().delete()
    update_run(team, actor, run.id, {"cluster": "far"})
    assert ask(REHEARSALS, run=run.id)["cluster"] == "far"
    assert ask(REHEARSALS, run=run.id, cluster=None)["cluster"] is None
    silence("far")
    assert ask(REHEARSALS, run=run.id)["cluster"] is None, "a silent cluster is not chosen"
    Rehearsal.objects.all().delete()
    refused = ask(REHEARSALS, 422, run="run_unknown")
    assert refused["errors"] == [{"pointer": "/run", "detail": "There is no run run_unknown in this team."}]
    Run.objects.filter(pk=run.id).update(team=other_team)
    ask(REHEARSALS, 422, run=run.id)
    assert Rehearsal.objects.count() == 0


def test_a_rehearsal_goes_to_the_cluster_that_its_run_is_on(
    ask: Callable[..., Any], make_run: Callable[..., Run], sent: list[tuple[str, str]]
) -> None:
    silence("here")
    run = make_run(start=True)
    sweep()
    take_report("here", told())
    assert [attempt.cluster for attempt in run.attempts.all()] == ["far"], "nor does a run go to one that is silent"
    assert ask(REHEARSALS, run=run.id)["cluster"] == "far"


def test_who_is_silent_is_told_of_each_cluster(two: None) -> None:
    assert [found.away for found in sizes()] == [False, False]
    silence("far")
    take_report("here", ClusterReport(fault="no Ray"))
    assert [found.away for found in sizes()] == [True, True]
    Cluster.objects.all().delete()
    assert [found.away for found in sizes()] == [False, False], "nobody has been asked yet"
