"""The life that every kind of job has which the platform's own worker does. A new kind is added to ``MAKERS`` alone."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db.models.functions import Now
from django.test import TestCase

from dressage.celery import app
from dressage.common.api.problems import Problem
from dressage.common.ids import new_id
from dressage.datasets.models import Dataset, DatasetImport, DatasetVersion
from dressage.jobs import local
from dressage.jobs.models import LocalJob
from dressage.jobs.tasks import sweep_jobs
from dressage.lab.models import LabJob
from dressage.policies.models import PolicyImport
from dressage.runs.models import Checkpoint, CheckpointExport, Run
from dressage.teams.models import Team

BY: dict[str, Any] = {"actor": {"kind": "user", "id": "usr_1", "name": "Ada"}, "created_by": "Ada"}
PLACE = {"name": "Rows", "slug": "rows", "source": "hub", "location": "owner/name"}


def dataset_import(team: Team) -> LocalJob:
    return DatasetImport.objects.create(team=team, **PLACE, **BY)


def policy_import(team: Team) -> LocalJob:
    return PolicyImport.objects.create(team=team, policy_id=new_id("pol"), **PLACE, **BY)


def lab_job(team: Team) -> LocalJob:
    dataset, _ = Dataset.objects.get_or_create(team=team, slug="sums", defaults={"name": "Sums", "created_by": "Ada"})
    number = dataset.versions.count() + 1
    facts = {"rows": 1, "bytes": 1, "sha256": "0", "columns": [], "created_by": "Ada"}
    version = DatasetVersion.objects.create(dataset=dataset, number=number, **facts)
    return LabJob.objects.create(team=team, version=version, kind="statistics", operation={}, rows=1, **BY)


def checkpoint_export(team: Team) -> LocalJob:
    facts = {"spec": {}, "effective_spec": {}, "total_steps": 1, "created_by": "Ada"}
    run, _ = Run.objects.get_or_create(team=team, name="first", defaults=facts)
    facts = {"attempt": 1, "step": 1, "bytes": 1, "manifest_sha256": "0", "reason": "schedule", "policy_version": 1}
    checkpoint, _ = Checkpoint.objects.get_or_create(run=run, path="a", defaults=facts)
    return CheckpointExport.objects.create(team=team, checkpoint=checkpoint, address="s3://bucket/a", **BY)


MAKERS: dict[str, Callable[[Team], LocalJob]] = {
    "datasets.import": dataset_import,
    "policies.import": policy_import,
    "lab.job": lab_job,
    "runs.export": checkpoint_export,
}


@pytest.fixture(autouse=True)
def dataset_root(settings: Any, tmp_path: Path) -> None:
    settings.DATASET_ROOT = tmp_path / "datasets"


@pytest.fixture(params=MAKERS)
def make(request: pytest.FixtureRequest, team: Team) -> Callable[[], LocalJob]:
    """``make()``: a queued job of the kind."""
    return lambda: MAKERS[request.param](team)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Ids of the jobs for which a worker was asked, by messages that were sent."""
    found: list[str] = []

    def send(name: str, *, kwargs: dict[str, str], queue: str, **_: Any) -> None:
        assert queue == "platform"
        found.extend(kwargs.values())

    monkeypatch.setattr(app, "send_task", send)
    return found


def ago(job: LocalJob, **seconds: float) -> None:
    """Move times of a job into the past."""
    times = {name: Now() - timedelta(seconds=value) for name, value in seconds.items()}
    type(job).objects.filter(pk=job.pk).update(**times)


def sweep() -> None:
    with TestCase.captureOnCommitCallbacks(execute=True):
        sweep_jobs()


def claimed(job: LocalJob) -> LocalJob:
    found = local.claim(type(job), job.pk)
    assert found is not None
    return found


def stored(job: LocalJob) -> LocalJob:
    return type(job).objects.get(pk=job.pk)


def test_every_kind_is_tested() -> None:
    assert {kind.name for kind in local.local_kinds()} == set(MAKERS)


def test_a_job_has_one_worker(make: Callable[[], LocalJob]) -> None:
    job = make()
    worker = claimed(job)
    assert (worker.state, worker.attempt, worker.error) == (type(job).active_states[0], 1, "")
    assert worker.started_at is not None and stored(job).heard_at is not None
    assert local.claim(type(job), job.pk) is None, "its worker was heard a moment ago"
    assert local.claim(type(job), "nothing") is None
    assert local.report(worker)


def test_a_silent_worker_is_replaced_and_can_change_nothing(make: Callable[[], LocalJob]) -> None:
    job = make()
    first = claimed(job)
    ago(job, heard_at=local.SILENT_S + 1)
    second = claimed(job)
    assert (second.attempt, second.started_at) == (2, first.started_at)
    before = type(job).objects.filter(pk=job.pk).values().get()
    assert not local.report(first)
    assert not local.wait(first, "for a person")
    assert not local.end_own(first, "failed", "lost")
    assert local.own_locked(first) is None
    local.fail(first, "lost")
    local.give_back(first)
    assert type(job).objects.filter(pk=job.pk).values().get() == before
    assert local.end_own(second, "failed", "x" * 3000)
    assert (stored(job).state, stored(job).error, stored(job).finished_at is None) == ("failed", "x" * 2000, False)


def test_a_job_is_given_back(make: Callable[[], LocalJob]) -> None:
    job = make()
    local.give_back(claimed(job), "The network has failed.")
    assert (stored(job).state, stored(job).error) == ("queued", "The network has failed.")
    again = claimed(job)
    assert (again.attempt, again.error) == (2, "")


def test_slots_bound_what_is_worked_on_at_once(make: Callable[[], LocalJob]) -> None:
    jobs = [make() for _ in range(sum(slots.limit for slots in make().slots) + 1)]
    found = [local.claim(type(job), job.pk) is not None for job in jobs]
    count = local._slots_of(jobs[0]).limit
    assert found == [True] * count + [False] * (len(jobs) - count)
    local.fail(stored(jobs[0]), "done with it")
    assert local.claim(type(jobs[-1]), jobs[-1].pk) is not None


def test_the_sweep_asks_until_a_worker_has_it(make: Callable[[], LocalJob], asked: list[str]) -> None:
    job = make()
    sweep()
    sweep()
    assert asked == [job.pk], "the first message may be lost, and the second is not due yet"
    ago(job, rung_at=local.ASK_AGAIN_S + 1)
    sweep()
    assert asked == [job.pk] * 2
    claimed(job)
    ago(job, rung_at=local.ASK_AGAIN_S + 1)
    sweep()
    assert asked == [job.pk] * 2, "a worker has it"
    ago(job, heard_at=local.SILENT_S + 1)
    sweep()
    assert asked == [job.pk] * 3


def test_a_message_of_a_change_that_fails_is_not_sent(make: Callable[[], LocalJob], asked: list[str]) -> None:
    with TestCase.captureOnCommitCallbacks(execute=True) as callbacks:
        local.notify(make())
        assert asked == []
    assert len(callbacks) == len(asked) == 1


@pytest.mark.parametrize("state", ["cancelled", "failed"])
def test_what_is_over_stays_over(make: Callable[[], LocalJob], asked: list[str], state: str) -> None:
    job = make()
    worker = claimed(job)
    local.end(stored(job), state)
    assert local.is_cancelled(job) is (state == "cancelled")
    assert not local.report(worker)
    assert not local.end_own(worker, "failed")
    local.give_back(worker)
    ago(job, heard_at=local.SILENT_S + 1, rung_at=local.ASK_AGAIN_S + 1)
    sweep()
    assert (local.claim(type(job), job.pk), stored(job).state, asked) == (None, state, [])


def test_a_job_waits_for_a_person_and_is_queued_again(make: Callable[[], LocalJob], asked: list[str]) -> None:
    job = make()
    if job.task in ("policies.import", "runs.export"):
        pytest.skip("it never needs a person")
    assert local.wait(claimed(job), "Look at the rows.")
    assert (stored(job).state, stored(job).error) == ("waiting", "Look at the rows.")
    ago(job, heard_at=local.SILENT_S + 1)
    sweep()
    assert (local.claim(type(job), job.pk), asked) == (None, [])
    with TestCase.captureOnCommitCallbacks(execute=True):
        local.queue_again(stored(job))
    assert (stored(job).state, stored(job).error, asked) == ("queued", "", [job.pk])
    assert claimed(job).attempt == 2


@pytest.mark.parametrize(
    ("error", "state", "sentence"),
    [
        (local.Stopping(), "queued", ""),
        (LookupError("There is no such thing: name another."), "failed", "There is no such thing: name another."),
        (Problem(409, "Conflict", "It is taken.", code="taken"), "failed", "It is taken."),
        (
            OSError(28, "No space left on device"),
            "failed",
            "The platform's disk cannot be used (No space left on device).",
        ),
        (ZeroDivisionError("secret"), "failed", "The platform failed at this "),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_try_that_breaks_off_says_why(
    make: Callable[[], LocalJob], error: Exception, state: str, sentence: str
) -> None:
    job = claimed(make())
    with local.doing(job, LookupError):
        raise error
    found = stored(job)
    assert (found.state, found.error.startswith(sentence), "secret" in found.error) == (state, True, False)


def test_a_try_whose_job_was_ended_changes_nothing(make: Callable[[], LocalJob]) -> None:
    job = claimed(make())
    local.end(stored(job), "cancelled")
    with pytest.raises(local.NotOurs), local.doing(job):
        raise local.NotOurs
    with local.doing(job):
        raise ZeroDivisionError
    assert (stored(job).state, stored(job).error) == ("cancelled", "")


def test_the_message_reaches_the_work_of_the_kind(
    make: Callable[[], LocalJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    job = make()
    done: list[str] = []
    monkeypatch.setattr(job.work, done.append)
    app.loader.import_default_modules()
    app.tasks[job.task](**{job.task_argument: job.pk})
    assert done == [job.pk]


def test_a_work_folder_is_removed_once_the_end_is_stored(make: Callable[[], LocalJob]) -> None:
    job = make()
    if (folder := job.work_folder) is None:
        pytest.skip("other code removes the files of imports")
    folder.mkdir(parents=True)
    with TestCase.captureOnCommitCallbacks(execute=True):
        local.end(job, "cancelled")
        assert folder.exists()
    assert not folder.exists()
