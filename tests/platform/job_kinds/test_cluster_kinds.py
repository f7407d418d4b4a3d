"""The life that every kind of a cluster's jobs has. A new kind is added to ``MAKERS`` alone."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import TestCase
from rest_framework.test import APIClient

from dressage.bench.models import BenchJob
from dressage.cluster_jobs.kinds import ClusterKind
from dressage.cluster_jobs.life import job_token
from dressage.cluster_jobs.models import ClusterJob, PlacedJob
from dressage.cluster_jobs.registry import kinds
from dressage.common.actors import Actor
from dressage.jobs.tasks import sweep_jobs
from dressage.profiles.models import Profile
from dressage.rehearsals.models import Rehearsal
from dressage.rewards.judges.services import create_judge_endpoint
from dressage.serving import services as serving
from dressage.serving.models import Serving
from dressage.teams.models import Team
from tests.platform.jobs import JobWorker, age
from tests.platform.profiles.fixtures import body as profile_body
from tests.platform.runs.fixtures import spec_document
from tests.platform.serving.fixtures import register_policy
from trainer_core.link.admission import SCHEME, proof
from trainer_core.link.jobs import JOB_KINDS

KINDS = {kind.names.name: kind for kind in kinds()}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> ClusterKind[Any]:
    return KINDS[request.param]


@pytest.fixture
def job(kind: ClusterKind[Any], request: pytest.FixtureRequest) -> ClusterJob:
    """A queued job of the kind, which has its place if its kind has places."""
    MAKERS[kind.names.name](request)
    made: ClusterJob = kind.model.objects.get()
    return made


def bench(request: pytest.FixtureRequest) -> None:
    request.getfixturevalue("start_bench")()


def post(request: pytest.FixtureRequest, path: str, document: dict[str, Any]) -> None:
    request.getfixturevalue("nouns")
    response = request.getfixturevalue("api")("editor").post(path, document, format="json")
    assert response.status_code == 202, response.content


def rehearsal(request: pytest.FixtureRequest) -> None:
    post(request, "/api/v1/rehearsals", {"spec": spec_document()})


def profile(request: pytest.FixtureRequest) -> None:
    post(request, "/api/v1/profiles", profile_body())


def served(request: pytest.FixtureRequest) -> None:
    team, actor = request.getfixturevalue("team"), request.getfixturevalue("actor")
    register_policy(team)
    create_judge_endpoint(team, actor, name="Own", slug="own", model="own", policy="tiny")
    serving.open_serving(team, actor, "lab_1", {"endpoint": "own"})


MAKERS: dict[str, Callable[[pytest.FixtureRequest], None]] = {
    "bench": bench,
    "rehearsal": rehearsal,
    "profile": profile,
    "serving": served,
}


class Worker(JobWorker):
    """The job's worker, of whatever kind."""

    def __init__(self, kind: ClusterKind[Any], job: ClusterJob, token: str | None = None) -> None:
        self.model, self.folder = kind.model, kind.names.path
        super().__init__(job.pk, token)


def sweep() -> None:
    with TestCase.captureOnCommitCallbacks(execute=True):
        sweep_jobs()


def state(job: ClusterJob) -> str:
    return str(type(job).objects.get(pk=job.pk).state)


def test_every_kind_is_tested_and_known_to_the_cluster() -> None:
    assert set(MAKERS) == set(KINDS) == {kind.name for kind in JOB_KINDS}
    assert {kind.model.task for kind in KINDS.values()} == {kind.task for kind in JOB_KINDS}
    assert {kind.model for kind in KINDS.values()} == {BenchJob, Rehearsal, Profile, Serving}


def test_the_token_is_given_to_the_cluster_alone(kind: ClusterKind[Any], job: ClusterJob, settings: Any) -> None:
    path = kind.names.token_address(job.pk)

    def ask(secret: str, path: str = path) -> Any:
        given = proof(secret, settings.LINK_URL, path)
        return APIClient(headers={"Authorization": f"{SCHEME} {given}"}).post(path)

    assert ask("another secret").status_code == 401
    for _ in range(2):  # the first answer may be lost
        assert ask(settings.CLUSTER_SECRET).json() == {"token": job_token(kind.model, job.pk)}
    assert ask(settings.CLUSTER_SECRET, kind.names.token_address("nothing")).status_code == 404
    Worker(kind, job).take()
    taken = ask(settings.CLUSTER_SECRET)
    assert (taken.status_code, taken.json()["error"]["code"]) == (409, "token_taken")


def test_a_token_opens_its_own_job_alone(kind: ClusterKind[Any], job: ClusterJob) -> None:
    other = Worker(kind, job)
    other.path = other.path.replace(job.pk, "another")
    assert other.take(403)["error"]["code"] == "foreign_token"
    for token in ("", "lnk_1", job_token(kind.model, "another")):
        assert Worker(kind, job, token).take(401)["error"]["code"] == "invalid_token"
    assert APIClient().get(Worker(kind, job).path).status_code == 401
    assert state(job) == "queued"


def test_a_worker_claims_and_keeps_its_lease(kind: ClusterKind[Any], job: ClusterJob, enqueued: list[str]) -> None:
    worker = Worker(kind, job)
    document = worker.take()
    assert (document["id"], document["lease_s"], state(job)) == (job.pk, kind.model.lease_s, "running")
    age(kind.model, job.pk, lease_expires_at=1)
    assert worker.renew() == {"lease_s": kind.model.lease_s}
    assert worker.take() == document, "an answer that was lost is asked for again"
    sweep()
    found = kind.model.objects.get()
    assert (found.state, found.tries, enqueued) == ("running", 1, [])


def test_a_lost_message_is_sent_again(kind: ClusterKind[Any], job: ClusterJob, enqueued: list[str]) -> None:
    sweep()
    assert enqueued == [], "it was sent a moment ago"
    age(kind.model, job.pk, rung_at=11)
    sweep()
    sweep()
    assert enqueued == [job.pk]


def test_lost_workers_are_replaced_until_it_is_too_much(
    kind: ClusterKind[Any], job: ClusterJob, enqueued: list[str]
) -> None:
    worker = Worker(kind, job)
    for tries in range(1, kind.max_tries + 1):
        worker.take()
        assert kind.model.objects.get().tries == tries
        age(kind.model, job.pk, lease_expires_at=1)
        sweep()
    found = kind.model.objects.get()
    lost = f"{kind.max_tries} workers were lost while they {kind.lost_while}"
    assert (found.state, found.error, found.lease_expires_at) == ("failed", lost, None)
    assert enqueued == [job.pk] * (kind.max_tries - 1)
    over(kind, job)


def test_one_that_no_worker_claims_fails(kind: ClusterKind[Any], job: ClusterJob, enqueued: list[str]) -> None:
    since = "placed_at" if isinstance(job, PlacedJob) else "created_at"
    age(kind.model, job.pk, **{since: kind.claim_limit_s - 60})
    sweep()
    assert state(job) == "queued"
    age(kind.model, job.pk, **{since: kind.claim_limit_s + 1})
    sweep()
    found = kind.model.objects.get()
    minutes = f"{kind.claim_limit_s / 60:g}"
    why = f"No worker of the cluster has taken {kind.claimed} within {minutes} minutes: is it running?"
    assert (found.state, found.error) == ("failed", why)
    over(kind, job)


def test_one_that_takes_too_long_is_ended(kind: ClusterKind[Any], job: ClusterJob) -> None:
    if kind.limit_s is None:
        pytest.skip("it lasts as long as it is used")
    Worker(kind, job).take()
    age(kind.model, job.pk, started_at=kind.limit_s + 1)
    sweep()
    found = kind.model.objects.get()
    assert (found.state, found.error) == ("failed", kind.too_late)
    over(kind, job)


def test_an_answer_that_cannot_be_read_fails_it(kind: ClusterKind[Any], job: ClusterJob) -> None:
    worker = Worker(kind, job)
    worker.take()
    worker.answer(422, nonsense=1)
    found = kind.model.objects.get()
    assert (found.state, str(found.error).partition(":")[0]) == ("failed", "The worker's answer cannot be read")


def test_a_job_reads_only_its_own_datasets(kind: ClusterKind[Any], job: ClusterJob) -> None:
    worker = Worker(kind, job)
    worker.take()
    for part in ("", "/difficulty"):
        assert worker.client.get(f"{worker.path}/datasets/nothing@1{part}").status_code == 404


def test_a_lease_of_another_team_is_out_of_reach(
    kind: ClusterKind[Any], job: ClusterJob, other_team: Team, actor: Actor
) -> None:
    assert not kind.model.objects.for_team(other_team).exists()
    assert list(kind.pins(other_team, ["sums@1"])) == []


def over(kind: ClusterKind[Any], job: ClusterJob) -> None:
    """Require that a job which is over opens nothing, and that asking changes nothing."""
    before = kind.model.objects.values().get(pk=job.pk)
    worker = Worker(kind, job)
    for answer in (worker.take(409), worker.renew(409)):
        assert answer["error"]["code"] == f"{job.noun}_is_over"
    for name in kind.requests():
        assert worker.client.post(f"{worker.path}/{name}", {}, format="json").status_code in (409, 422)
    assert worker.client.get(f"{worker.path}/datasets/sums@1").status_code == 409
    assert kind.model.objects.values().get(pk=job.pk) == before
