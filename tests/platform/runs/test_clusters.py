"""Several clusters: a run chooses one, places are counted on each, and what fits on none is refused at its start."""

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models.functions import Now
from rest_framework.test import APIClient

from dressage.clusters.models import Cluster
from dressage.clusters.services import take_report
from dressage.clusters.sizes import ClusterSize
from dressage.common.actors import Actor
from dressage.common.api.problems import Problem
from dressage.runs import enqueue
from dressage.runs.facts.demand import ask_clusters, demand_by_cluster
from dressage.runs.facts.places import sizes
from dressage.runs.facts.selectors import run_json
from dressage.runs.life.services import create_run, start_run, update_run
from dressage.runs.models import Attempt, Run
from dressage.runs.needs.choice import choose
from dressage.runs.sweep.reconcile import sweep
from dressage.teams.models import Team
from tests.platform.runs.fixtures import Worker, expire_lease, furnish, spec_document
from trainer_core.link.admission import proof
from trainer_core.link.celery_queue import queue_of
from trainer_core.link.cluster import ClusterReport, GpuKind, ResourceBundle, report_path
from trainer_core.planning.reservation import Reservation
from trainer_core.spec import RunSpec

WIDE = {"parallelism": {"rollout_workers": 4, "learner_ranks": 2}}
"""Reserves 5 CPUs, or 6 GPUs."""

OF_FOUR = {"rollout": {"engine": {"tensor_parallel_size": 2, "pipeline_parallel_size": 2}}}
"""One engine of four devices and a learner: 4.5 CPUs, or 5 GPUs."""


@pytest.fixture
def two(settings: Any) -> None:
    """An installation with two clusters."""
    settings.CLUSTERS = ("here", "far")


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any) -> list[tuple[str, str]]:
    """(task, queue) of every message that was sent."""
    found: list[tuple[str, str]] = []
    monkeypatch.setattr(enqueue.app, "send_task", lambda name, queue, **_: found.append((name, queue)))
    monkeypatch.setattr(enqueue.transaction, "on_commit", lambda call: call())
    return found


def report(name: str, cpus: float, gpus: float = 0.0, free: float | None = None) -> None:
    kinds = (GpuKind(kind="H100", total=gpus, free=gpus if free is None else free),) if gpus else ()
    take_report(name, ClusterReport(ray_version="2.60.0", nodes=1, cpus=cpus, cpus_free=cpus, gpus=kinds))


def placed(*runs: Run) -> list[str | None]:
    """The cluster that each run holds a place on; None: it waits."""
    found = dict(Attempt.objects.values_list("run_id", "cluster"))
    return [found.get(run.id) for run in runs]


def clusters(**options: Any) -> list[str]:
    output = StringIO()
    call_command("clusters", stdout=output, **options)
    return output.getvalue().splitlines()


def test_each_cluster_has_its_places_and_a_run_goes_where_it_wants(
    two: None, make_run: Callable[..., Run], team: Team, actor: Actor, sent: list[tuple[str, str]]
) -> None:
    runs = [make_run(f"r{number}") for number in range(4)]
    for run, cluster in zip(runs, ("far", "far", None, None), strict=True):
        update_run(team, actor, run.id, {"cluster": cluster})
        start_run(team, actor, run.id)
    sweep()
    assert placed(*runs) == ["far", None, "here", None]
    assert [queue for name, queue in sent if name == "worker.tasks.start"] == ["cluster-far", "cluster-here"]
    assert run_json(team, runs[1].id)["state_reason"] == (
        "Waiting for a slot on “far”: 1 of 1 taken; 1st in your queue."
    )
    assert run_json(team, runs[3].id)["state_reason"].startswith("Waiting for a slot: 2 of 2 taken by “r0” and “r2”;")
    worker = Worker(runs[2].id, 1)
    worker.state("running")
    worker.state("failed", "x")
    sweep()
    assert placed(*runs) == ["far", None, "here", "here"], "the run that anybody may have goes before one for “far”"
    document = run_json(team, runs[0].id)
    assert (document["cluster"], document["placed_on"]) == ("far", "far")
    assert (run_json(team, runs[3].id)["cluster"], run_json(team, runs[3].id)["placed_on"]) == (None, "here")


@pytest.mark.parametrize(
    ("taken", "waiting", "chosen"),
    [
        ((0, 0), {}, "a"),
        ((1, 0), {}, "b"),
        ((0, 0), {"a": 1}, "b"),
        ((0, 3), {"a": 2, "b": 1}, "b"),
        ((4, 3), {"b": 9}, "b"),
    ],
)
def test_of_several_the_one_with_the_fewest_waiting_then_the_most_free_is_taken(
    taken: tuple[int, int], waiting: dict[str, int], chosen: str
) -> None:
    sizes = [ClusterSize(name, 4, taken=number) for name, number in zip("ab", taken, strict=True)]
    found = choose(Reservation(1, 1), "", sizes, waiting=waiting)
    assert found.cluster is not None and (found.cluster.name, found.obstacle) == (chosen, None)


def test_an_installation_without_named_clusters_uses_the_queue_of_before(
    make_run: Callable[..., Run], sent: list[tuple[str, str]]
) -> None:
    run = make_run(start=True)
    sweep()
    assert (placed(run), [queue for name, queue in sent if name == "worker.tasks.start"]) == (["default"], ["cluster"])
    assert [queue_of(name) for name in ("", "default", "far")] == ["cluster", "cluster", "cluster-far"]


def test_a_new_attempt_stays_on_its_cluster(
    two: None, make_run: Callable[..., Run], team: Team, actor: Actor, sent: list[tuple[str, str]], settings: Any
) -> None:
    run = make_run()
    update_run(team, actor, run.id, {"cluster": "far"})
    start_run(team, actor, run.id)
    sweep()
    Worker(run.id, 1).state("running")
    expire_lease(run)
    sent.clear()
    sweep()
    assert [attempt.cluster for attempt in run.attempts.all()] == ["far", "far"]
    assert sent == [("worker.tasks.stop", "cluster-far"), ("worker.tasks.start", "cluster-far")]
    settings.CLUSTERS = ("here",)
    Worker(run.id, 2).state("running")
    expire_lease(run)
    sweep()
    assert [attempt.cluster for attempt in run.attempts.all()] == ["far", "far", "here"], "its cluster is gone"


def test_what_can_never_fit_is_refused_before_it_starts(
    two: None, make_run: Callable[..., Run], team: Team, actor: Actor
) -> None:
    report("here", 2)
    run = make_run(**WIDE)
    start_run(team, actor, run.id)  # of the other cluster nothing is known yet
    report("far", 4)
    other = make_run("other", **WIDE)
    with pytest.raises(Problem) as refused:
        start_run(team, actor, other.id)
    assert (refused.value.status, refused.value.errors[0]["pointer"], refused.value.detail) == (
        422,
        "/spec/parallelism",
        "The run needs 5 CPUs for its engines and learner ranks; the largest cluster, 'far', has 4 CPUs. Use fewer "
        "rollout workers or learner ranks. If it can grow, the operator must set this with 'manage.py clusters'.",
    )
    sweep()
    assert (Run.objects.get(pk=other.pk).state, placed(run, other)) == ("draft", [None, None])
    waiting = run_json(team, run.id)["waiting"]
    assert waiting is not None and waiting["reason"] == "too_large"
    clusters(name="far", most_cpus="64")
    start_run(team, actor, other.id)
    sweep()
    assert placed(run, other) == [None, None]
    assert run_json(team, other.id)["state_reason"] == (
        "Waiting for the cluster “far” to grow to the run's needs: 4 of 5 CPUs are there; 2nd in your queue."
    )
    report("far", 8)
    sweep()
    assert placed(run, other) == ["far", None]


def test_a_cluster_whose_first_node_is_not_up_yet_refuses_nothing(
    make_run: Callable[..., Run], team: Team, actor: Actor
) -> None:
    take_report("default", ClusterReport(ray_version="2.60.0"))
    run = make_run(**WIDE)
    start_run(team, actor, run.id)
    sweep()
    assert placed(run) == ["default"]


def test_gpus_count_where_a_cluster_has_or_may_have_them(
    two: None, make_run: Callable[..., Run], team: Team, actor: Actor
) -> None:
    report("here", 64, gpus=4)
    report("far", 64)
    wide, ranks = make_run("wide", **WIDE), make_run("shared", parallelism={"rollout_workers": 4})
    update_run(team, actor, wide.id, {"cluster": "here"})
    with pytest.raises(Problem, match=r"needs 5 CPUs and 6 GPUs .* the cluster 'here' has 64 CPUs and 4 GPUs"):
        start_run(team, actor, wide.id)
    update_run(team, actor, ranks.id, {"cluster": "here"})
    start_run(team, actor, ranks.id)
    update_run(team, actor, wide.id, {"cluster": "far"})
    start_run(team, actor, wide.id)
    sweep()
    assert placed(wide, ranks) == ["far", "here"]
    held = {attempt.cluster: attempt.gpus for attempt in Attempt.objects.all()}
    assert held == {"far": 0.0, "here": 2.5}, "five models share four GPUs, two on each"


def test_every_device_of_an_engine_counts_from_the_demand_to_the_quota(
    make_run: Callable[..., Run], team: Team, actor: Actor
) -> None:
    report("default", 64, gpus=4)
    run = make_run(**OF_FOUR)
    with pytest.raises(Problem) as refused:
        start_run(team, actor, run.id)
    assert refused.value.detail == (
        "The run needs 4.5 CPUs and 5 GPUs for its engines of 4 devices each and learner ranks; the cluster 'default' "
        "has 64 CPUs and 4 GPUs. Use fewer rollout workers, learner ranks or devices for each engine "
        "(rollout.engine.tensor_parallel_size times pipeline_parallel_size). If it can grow, the operator must set "
        "this with 'manage.py clusters'."
    )
    clusters(name="default", most_gpus="8")
    start_run(team, actor, run.id)
    sweep()
    assert placed(run) == [None]
    assert run_json(team, run.id)["state_reason"] == (
        "Waiting for the cluster “default” to grow to the run's needs: 64 of 4.5 CPUs and 4 of 5 GPUs are there; "
        "1st in your queue."
    )
    wanted = {
        "default": tuple(ResourceBundle(cpus=size, gpus=gpus, count=1) for size, gpus in ((0.5, 1.0), (4.0, 4.0)))
    }
    assert demand_by_cluster(sizes()) == wanted, "the engine's devices lie on one node"
    report("default", 64, gpus=5)
    sweep()
    assert placed(run) == ["default"]
    assert Attempt.objects.get().gpus == 5.0
    assert demand_by_cluster(sizes()) == wanted


def test_a_run_that_begins_with_few_engines_begins_where_the_others_have_no_room(
    make_run: Callable[..., Run], team: Team, actor: Actor
) -> None:
    report("default", 4)
    whole = make_run("whole", parallelism={"rollout_workers": 8})
    with pytest.raises(Problem, match=r"The run needs 8\.5 CPUs .* has 4 CPUs"):
        start_run(team, actor, whole.id)
    growing = make_run("growing", parallelism={"rollout_workers": 8, "least_rollout_workers": 2})
    start_run(team, actor, growing.id)
    sweep()
    assert placed(whole, growing) == [None, "default"]
    one, three = ResourceBundle(cpus=0.5, gpus=0.0, count=1), ResourceBundle(cpus=1.0, gpus=0.0, count=3)
    assert demand_by_cluster(sizes()) == {"default": (one, three)}


def test_the_demand_is_no_more_than_a_cluster_may_grow_to(make_run: Callable[..., Run]) -> None:
    """Two runs that would not fit together, and a small one that begins with fewer engines than it wants."""
    clusters(name="default", most_cpus="8", places="3")
    take_report("default", ClusterReport(nodes=1))
    large = {"parallelism": {"rollout_workers": 5}}
    for name, changes in (
        ("a", large),
        ("b", large),
        ("c", {"parallelism": {"rollout_workers": 9, "least_rollout_workers": 1}}),
    ):
        make_run(name, start=True, **changes)
    sweep()
    ranks = ResourceBundle(cpus=0.5, gpus=0.0, count=2)
    assert demand_by_cluster(sizes()) == {"default": (ranks, ResourceBundle(cpus=1.0, gpus=0.0, count=7))}
    Run.objects.filter(name__in=("a", "b")).update(state="cancelled")
    (_, engines) = demand_by_cluster(sizes())["default"]
    assert engines.count == 7


def test_gpus_bring_cpus_of_which_nobody_has_told(make_run: Callable[..., Run], team: Team, actor: Actor) -> None:
    clusters(name="default", most_gpus="12", places="3")
    take_report("default", ClusterReport(nodes=1))
    runs = [make_run(f"r{number}", start=True, **WIDE) for number in range(3)]
    sweep()
    assert placed(*runs) == [None, None, None], "the cluster is at zero"
    two_runs = (ResourceBundle(cpus=0.5, gpus=1.0, count=4), ResourceBundle(cpus=1.0, gpus=1.0, count=8))
    assert demand_by_cluster(sizes()) == {"default": two_runs}, "GPUs bound it, not the CPUs of today"
    assert clusters() == ["default: 0 of 3 slots are taken; 1 nodes, 0 CPUs, 0 GPUs, grows to 12 GPUs"]
    large = make_run("large", parallelism={"rollout_workers": 20, "learner_ranks": 2})
    with pytest.raises(Problem, match="the cluster 'default' may grow to 12 GPUs"):
        start_run(team, actor, large.id)
    clusters(name="default", most_cpus="5")
    assert demand_by_cluster(sizes()) == {
        "default": tuple(bundle.model_copy(update={"count": bundle.count // 2}) for bundle in two_runs)
    }


def test_the_demand_is_what_trains_and_what_is_next(
    two: None, make_run: Callable[..., Run], team: Team, actor: Actor, settings: Any
) -> None:
    settings.CLUSTERS = ("grows",)
    settings.MAX_ACTIVE_RUNS = 2
    clusters(name="grows", most_cpus="64", most_gpus="16")
    take_report("grows", ClusterReport(nodes=1))
    assert demand_by_cluster(sizes()) == {}
    runs = [make_run(f"r{number}", start=True, **WIDE) for number in range(3)]
    sweep()
    assert placed(*runs) == [None, None, None], "the cluster is at zero"
    one = (ResourceBundle(cpus=0.5, gpus=1.0, count=2), ResourceBundle(cpus=1.0, gpus=1.0, count=4))
    two_runs = tuple(bundle.model_copy(update={"count": bundle.count * 2}) for bundle in one)
    assert demand_by_cluster(sizes()) == {"grows": two_runs}, "the third has no place"
    report("grows", 16, gpus=6)
    sweep()
    assert placed(*runs) == ["grows", "grows", None] or placed(*runs) == ["grows", None, None]
    for run in runs:
        Run.objects.filter(pk=run.pk).update(state="cancelled")
    assert demand_by_cluster(sizes()) == {}, "an idle cluster goes to zero"


def test_clusters_are_asked_now_and_then_and_at_once_when_the_demand_is_new(
    make_run: Callable[..., Run], sent: list[tuple[str, str]]
) -> None:
    measure = ("worker.tasks.measure", "cluster")
    ask_clusters()
    ask_clusters()
    assert sent == [measure], "an answer is waited for"
    report("default", 4)
    ask_clusters()
    assert sent == [measure], "the answer is fresh"
    Cluster.objects.update(asked_at="2026-11-01T00:00:00Z", answered_at=Now())
    ask_clusters()
    assert sent == [measure] * 2
    make_run(start=True)
    sent.clear()
    ask_clusters()
    ask_clusters()
    assert sent == [measure]
    assert Cluster.objects.get().demand == [
        {"cpus": 0.5, "gpus": 0.0, "count": 1},
        {"cpus": 1.0, "gpus": 0.0, "count": 1},
    ]


def test_a_worker_reports_with_the_proof_of_its_cluster(settings: Any, db: None) -> None:
    def post(name: str, body: Any, secret: str = settings.CLUSTER_SECRET) -> int:
        path = report_path(name)
        told = f"Cluster {proof(secret, settings.LINK_URL, path)}"
        client = APIClient(headers={"Authorization": told})
        return int(client.post(path, json.dumps(body), content_type="application/json").status_code)

    size = ClusterReport(ray_version="2.60.0", nodes=3, cpus=12.0, cpus_free=4.0).wire()
    assert post("default", size, secret="another secret") == 401
    assert post("other", size) == 404
    assert post("default", {"cpus": -1}) == 422
    assert Cluster.objects.count() == 0
    assert post("default", size) == 204
    assert post("default", {"fault": "The Ray cluster at 10.0.0.1:6379 cannot be reached."}) == 204
    [row] = Cluster.objects.all()
    assert row.report is not None
    assert (row.report["cpus"], row.fault[:15]) == (12.0, "The Ray cluster"), "the last size is kept"


def test_members_see_sizes_and_free_places_and_never_other_teams_runs(
    two: None,
    make_run: Callable[..., Run],
    other_team: Team,
    actor: Actor,
    tmp_path: Path,
    api: Callable[..., APIClient],
    settings: Any,
) -> None:
    settings.MAX_ACTIVE_RUNS = 3
    furnish(other_team, actor, tmp_path / "their-policy")
    spec = RunSpec.model_validate(spec_document())
    secret = create_run(other_team, actor, name="secret", spec=spec, start=True, cluster="far")
    own = make_run("mine", start=True)
    report("here", 8, gpus=4, free=1)
    sweep()
    create_run(other_team, actor, name="secret-2", spec=spec, start=True, cluster="far")
    clusters(name="far", places="1")
    answer = api("viewer").get("/api/v1/clusters")
    here, far = answer.json()["data"]
    assert (here["name"], here["state"], here["cpus"], here["places"], here["places_free"]) == ("here", "up", 8, 3, 2)
    assert here["gpus"] == [{"kind": "H100", "total": 4, "free": 1}]
    assert here["own"] == [{"id": own.id, "name": "mine", "state": "starting"}]
    assert (far["state"], far["own"], far["others"], far["places_free"], far["waiting"]) == ("unknown", [], 1, 0, 1)
    assert "secret" not in answer.content.decode() and secret.id not in answer.content.decode()


def test_a_cluster_is_chosen_at_creation_by_its_name(two: None, nouns: Path, api: Callable[..., APIClient]) -> None:
    client = api("operator")
    body = {"name": "x", "spec": spec_document(), "cluster": "nowhere"}
    refused = client.post("/api/v1/runs", body, format="json")
    assert (refused.status_code, refused.json()["errors"]) == (
        422, [{"pointer": "/cluster", "detail": "There is no cluster 'nowhere'; choose from here, far."}]
    )  # fmt: skip
    assert Run.objects.count() == 0
    made = client.post("/api/v1/runs", {**body, "cluster": "far"}, format="json").json()
    assert (made["cluster"], made["placed_on"]) == ("far", None)
    fork = client.post(f"/api/v1/runs/{made['id']}/fork", {}, format="json").json()
    assert fork["cluster"] == "far"
    path = f"/api/v1/runs/{fork['id']}"
    assert client.patch(path, {"cluster": None}, format="json").json()["cluster"] is None
    client.post(f"{path}/start", format="json")
    sweep()
    refused = client.patch(path, {"cluster": "far"}, format="json")
    assert (refused.status_code, refused.json()["detail"]) == (
        409, "The run is starting: its cluster can be changed only while it holds no slot."
    )  # fmt: skip


def test_a_run_whose_cluster_is_gone_says_so_and_can_be_moved(
    two: None, make_run: Callable[..., Run], team: Team, actor: Actor, settings: Any
) -> None:
    run = make_run()
    update_run(team, actor, run.id, {"cluster": "far"})
    start_run(team, actor, run.id)
    settings.CLUSTERS = ("here",)
    sweep()
    assert run_json(team, run.id)["state_reason"] == (
        "The cluster “far” is no longer in this installation: choose another for the run."
    )
    update_run(team, actor, run.id, {"cluster": "here"})
    sweep()
    assert placed(run) == ["here"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"name": "default"}, "together"),
        ({"places": "2"}, "together"),
        ({"name": "nowhere", "places": "2"}, "There is no cluster 'nowhere'; choose from default"),
        ({"name": "default", "most_gpus": "many"}, "--most-gpus must be a number from 0, or 'usual', not 'many'"),
    ],
)
def test_a_command_that_makes_no_sense_changes_nothing(options: dict[str, str], words: str, db: None) -> None:
    with pytest.raises(CommandError, match=words):
        clusters(**options)
    assert Cluster.objects.count() == 0


def test_the_operators_command_shows_and_sets(db: None) -> None:
    assert clusters() == ["default: 0 of 1 slots are taken; size unknown"]
    report("default", 8, gpus=2)
    assert clusters(name="default", places="4", most_gpus="16") == [
        "default: 0 of 4 slots are taken; 1 nodes, 8 CPUs, 2 GPUs, grows to 16 GPUs"
    ]
    assert clusters(name="default", places="usual", most_gpus="usual") == [
        "default: 0 of 1 slots are taken; 1 nodes, 8 CPUs, 2 GPUs"
    ]
