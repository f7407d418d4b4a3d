"""Jobs that make versions of variations: where these go, what is refused, what ends meanwhile, and undo."""

import errno
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from dressage.datasets.models import DatasetVersion, TeamDatasetQuota
from dressage.datasets.selectors import version_by_ref
from dressage.datasets.versions import notes, storage
from dressage.jobs.local import claim
from dressage.jobs.tasks import sweep_jobs
from dressage.lab.asking.client import AskedTokens
from dressage.lab.asking.outcomes import AskedOutcome, KeptOutcomes
from dressage.lab.carry_out import carry_out
from dressage.lab.models import LabJob
from dressage.lab.synthesis import cost
from dressage.rewards.models import JudgeEndpoint
from dressage.teams.models import Team
from tests.platform.lab.stables import SYNTHESIS, number_in, retold, rows_of, source, writes_two
from tests.support.about import PLATFORM
from tests.support.judge_endpoint import JudgeServer


@pytest.mark.expensive(3, "starts a job's process", about=PLATFORM)
def test_into_a_new_dataset_that_undo_removes(
    editor: APIClient,
    ask: Callable[..., Any],
    finish: Callable[..., LabJob],
    make: Callable[..., DatasetVersion],
    team: Team,
    model: JudgeServer,
    endpoint: JudgeEndpoint,
) -> None:
    version = make([source(11)])
    model.say = writes_two
    operation = {**SYNTHESIS, "into": {"name": "More sums"}}
    job = finish(version, operation)
    made = version_by_ref(team, "more-sums@1")
    assert (job.made, made.parent, made.rows, version.dataset.versions.count()) == (made, version, 3, 1)
    assert ask(version, operation).json()["error"]["code"] == "slug_taken"
    assert editor.post(f"/api/v1/lab-jobs/{job.id}/undo").status_code == 200
    made.refresh_from_db()
    made.dataset.refresh_from_db()
    assert made.is_deleted and made.dataset.deleted_at is not None


@pytest.mark.expensive(3, "starts a job's process", about=PLATFORM)
def test_a_version_in_use_is_not_undone(
    editor: APIClient,
    ask: Callable[..., Any],
    finish: Callable[..., LabJob],
    make: Callable[..., DatasetVersion],
    team: Team,
    model: JudgeServer,
    endpoint: JudgeEndpoint,
) -> None:
    version = make([source(11)])
    model.say = writes_two
    job = finish(version, SYNTHESIS)
    reading = ask(version_by_ref(team, "sums@2"), {"kind": "statistics"}).json()["job"]["id"]
    refused = editor.post(f"/api/v1/lab-jobs/{job.id}/undo")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "dataset_in_use")
    assert [one.name for one in notes.of(version)] == ["synthesis"] and not version_by_ref(team, "sums@2").is_deleted
    editor.post(f"/api/v1/lab-jobs/{reading}/cancel")
    assert editor.post(f"/api/v1/lab-jobs/{job.id}/undo").status_code == 200


@pytest.mark.parametrize(
    ("more", "status", "where"),
    [
        ({"endpoint": "nobody"}, 422, "/operation/endpoint"),
        ({"solver": "nobody"}, 422, "/operation/solver"),
        ({"variations": 9}, 422, "/operation/variations"),
        ({"attempts": 0}, 422, "/operation/attempts"),
        ({"instruction": " "}, 422, "/operation"),
        ({"least_pass_rate": 0.8, "most_pass_rate": 0.5}, 422, "/operation"),
        ({"query": {"answer": "7"}}, 422, "/operation/query"),
        ({"query": {"text": "beauty"}}, 422, "/operation/query"),
        ({"query": {"notes": [{"notes": "difficulty", "column": "pass_rate"}]}}, 422, "/operation/query/notes/0"),
        ({"variations": 3}, 422, "/operation/sample"),
        ({"into": {"name": "Sums"}}, 409, "/slug"),
    ],
)
def test_what_is_refused_at_once(
    ask: Callable[..., Any],
    make: Callable[..., DatasetVersion],
    monkeypatch: pytest.MonkeyPatch,
    model: JudgeServer,
    endpoint: JudgeEndpoint,
    more: dict[str, Any],
    status: int,
    where: str,
) -> None:
    monkeypatch.setattr(cost, "MAX_VARIATIONS", 5)
    version = make([source(11), source(12), {"prompt": "What is beauty?", "answer": " "}])
    answer = ask(version, {**SYNTHESIS, **more})
    assert answer.status_code == status, answer.json()
    assert answer.json()["errors"][0]["pointer"].startswith(where)
    assert not LabJob.objects.exists() and model.requests == []


def test_a_full_quota_is_told_before_anything_is_asked(
    ask: Callable[..., Any],
    make: Callable[..., DatasetVersion],
    team: Team,
    model: JudgeServer,
    endpoint: JudgeEndpoint,
) -> None:
    version = make([source(11)])
    TeamDatasetQuota.objects.create(team=team, rows=3)
    answer = ask(version, SYNTHESIS)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "dataset_quota")
    assert not LabJob.objects.exists() and model.requests == []


@pytest.mark.expensive(3, "starts a job's process", about=PLATFORM)
@pytest.mark.parametrize(
    ("limit", "told"), [({"rows": 3}, "have 1 of 3 rows; this needs 3 more"), ({"bytes": 5}, "of 5 bytes; this needs")]
)
def test_what_was_paid_for_waits_while_the_quota_is_full(
    ask: Callable[..., Any],
    api: Callable[..., APIClient],
    editor: APIClient,
    make: Callable[..., DatasetVersion],
    team: Team,
    model: JudgeServer,
    endpoint: JudgeEndpoint,
    django_capture_on_commit_callbacks: Callable[..., Any],
    limit: dict[str, int],
    told: str,
) -> None:
    """The quota is lowered while the model is asked, and raised again: no row is asked about twice."""
    version = make([source(11)])
    job = ask(version, SYNTHESIS).json()["job"]["id"]
    place = f"/api/v1/lab-jobs/{job}"
    early = editor.post(f"{place}/resume")
    assert (early.status_code, early.json()["error"]["code"]) == (409, "lab_job_does_not_wait")
    TeamDatasetQuota.objects.create(team=team, **limit)
    model.say = writes_two
    carry_out(job)
    asked = len(model.requests)
    for _ in range(2):  # it may be resumed in vain
        waits = LabJob.objects.get(pk=job)
        assert (waits.state, waits.made, waits.finished_at, notes.of(version)) == ("waiting", None, None, [])
        assert told in waits.error and "Delete versions that nobody needs" in waits.error
        assert waits.error.endswith("Cancelling deletes them.")
        assert [path.name for path in version.path.parent.glob("*.parquet")] == [version.path.name]
        carry_out(job)  # a message that comes late
        sweep_jobs()
        assert LabJob.objects.get(pk=job).state == "waiting"
        assert editor.delete(f"/api/v1/datasets/{version.dataset_id}").status_code == 409
        assert api("viewer").post(f"{place}/resume").status_code == 403
        assert editor.post(f"{place}/resume").json()["state"] == "queued"
        carry_out(job)
    TeamDatasetQuota.objects.all().delete()
    assert ask(version, SYNTHESIS).json()["error"]["code"] == "lab_job_is_open"
    JudgeEndpoint.objects.all().delete()  # nobody is asked any more
    resumed = editor.post(f"{place}/resume").json()
    assert (resumed["state"], resumed["error"]) == ("queued", "")
    with django_capture_on_commit_callbacks(execute=True):
        carry_out(job)
    over = LabJob.objects.get(pk=job)
    assert (over.state, over.error, over.made and over.made.rows) == ("done", "", 3)
    assert [one.name for one in notes.of(version)] == ["synthesis"]
    assert len(model.requests) == asked and not over.work_folder.exists()


@pytest.mark.expensive(2, "starts a job's process", about=PLATFORM)
def test_a_slug_that_was_taken_meanwhile_costs_nothing(
    ask: Callable[..., Any],
    make: Callable[..., DatasetVersion],
    model: JudgeServer,
    endpoint: JudgeEndpoint,
) -> None:
    version = make([source(11)])
    job = ask(version, {**SYNTHESIS, "into": {"name": "More sums"}}).json()["job"]["id"]
    make([source(12)], name="More sums")
    make([source(12)], name="More sums 2")
    model.say = writes_two
    carry_out(job)
    over = LabJob.objects.get(pk=job)
    assert (over.state, over.error, over.made and over.made.ref) == ("done", "", "more-sums-3@1")


@pytest.mark.expensive(2, "starts a job's process", about=PLATFORM)
def test_a_job_that_waits_can_be_cancelled(
    ask: Callable[..., Any],
    editor: APIClient,
    make: Callable[..., DatasetVersion],
    team: Team,
    model: JudgeServer,
    endpoint: JudgeEndpoint,
    django_capture_on_commit_callbacks: Callable[..., Any],
) -> None:
    version = make([source(11)])
    job = ask(version, SYNTHESIS).json()["job"]["id"]
    TeamDatasetQuota.objects.create(team=team, rows=3)
    model.say = writes_two
    carry_out(job)
    with_rows = LabJob.objects.get(pk=job)
    assert with_rows.state == "waiting" and with_rows.work_folder.exists()
    with django_capture_on_commit_callbacks(execute=True):
        assert editor.post(f"/api/v1/lab-jobs/{job}/cancel").json()["state"] == "cancelled"
    assert not with_rows.work_folder.exists() and version.dataset.versions.count() == 1
    assert editor.post(f"/api/v1/lab-jobs/{job}/resume").status_code == 409


@pytest.mark.expensive(2, "starts a job's process", about=PLATFORM)
def test_a_full_disk_has_the_job_wait(
    ask: Callable[..., Any],
    editor: APIClient,
    make: Callable[..., DatasetVersion],
    model: JudgeServer,
    endpoint: JudgeEndpoint,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    version = make([source(11)])
    job = ask(version, SYNTHESIS).json()["job"]["id"]
    model.say = writes_two

    def full(tables: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(storage, "write_tables", full)
        carry_out(job)
    waits = LabJob.objects.get(pk=job)
    assert (waits.state, waits.error.split(":")[0]) == ("waiting", "The platform's disk is full")
    asked = len(model.requests)
    assert editor.post(f"/api/v1/lab-jobs/{job}/resume").status_code == 200
    carry_out(job)
    assert LabJob.objects.get(pk=job).state == "done" and len(model.requests) == asked


@pytest.mark.expensive(2, "starts a job's process", about=PLATFORM)
def test_answered_rows_are_not_asked_again(
    ask: Callable[..., Any], make: Callable[..., DatasetVersion], model: JudgeServer, endpoint: JudgeEndpoint
) -> None:
    version = make([source(number) for number in range(11, 15)])
    job = LabJob.objects.get(pk=ask(version, {**SYNTHESIS, "attempts": 1}).json()["job"]["id"])
    assert claim(LabJob, job.id) is not None
    job.work_folder.mkdir(parents=True)
    kept = KeptOutcomes(job.work_folder)
    found = {"variations": [{"text": retold(11), "reason": None, "detail": None, "pass_rate": 0.75}]}
    kept.keep(AskedOutcome(0, found, None, AskedTokens(1, 1000, 7), AskedTokens(4, 4000, 70)))
    kept.close()
    LabJob.objects.update(heard_at=timezone.now() - timedelta(seconds=60))
    model.say = writes_two
    carry_out(job.id)
    over = LabJob.objects.get()
    assert (over.state, over.attempt, over.made and over.made.rows) == ("done", 2, 4 + 1 + 3 * 2)
    assert sorted({number_in(body) for body in model.requests}) == [12, 13, 14]
    assert rows_of(over.made)[4][1]["variation_pass_rate"] == 0.75
    assert (over.report or {})["synthesis"]["asked"]["questions"] == 5 + 3 * 3


@pytest.mark.expensive(2, "starts a job's process", about=PLATFORM)
def test_a_job_that_ends_meanwhile_leaves_no_version(
    ask: Callable[..., Any],
    editor: APIClient,
    make: Callable[..., DatasetVersion],
    model: JudgeServer,
    endpoint: JudgeEndpoint,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is cancelled while its file is written: neither version, notes nor file stay."""
    from dressage.datasets.derivation import services as derivation

    version = make([source(11)])
    job = ask(version, SYNTHESIS).json()["job"]["id"]
    model.say = writes_two
    carry = derivation.carried_notes

    def cancelled(*arguments: Any) -> Any:
        assert editor.post(f"/api/v1/lab-jobs/{job}/cancel").status_code == 200
        return carry(*arguments)

    monkeypatch.setattr(derivation, "carried_notes", cancelled)
    carry_out(job)
    over = LabJob.objects.get()
    assert (over.state, over.made, notes.of(version)) == ("cancelled", None, [])
    assert version.dataset.versions.count() == 1 and not over.work_folder.exists()
    assert [path.name for path in version.path.parent.glob("*.parquet")] == [version.path.name]


def test_the_same_request_starts_one_job(
    editor: APIClient, make: Callable[..., DatasetVersion], endpoint: JudgeEndpoint
) -> None:
    version = make([source(11)])
    path = f"/api/v1/datasets/{version.dataset_id}/versions/1/lab"
    answers = [
        editor.post(path, {"operation": SYNTHESIS}, format="json", headers={"Idempotency-Key": "one"}).json()
        for _ in range(2)
    ]
    assert answers[0]["job"]["id"] == answers[1]["job"]["id"] and LabJob.objects.count() == 1


def test_a_solver_that_is_asked_is_not_deleted(
    ask: Callable[..., Any],
    api: Callable[..., APIClient],
    make: Callable[..., DatasetVersion],
    endpoint: JudgeEndpoint,
    name_model: Callable[..., JudgeEndpoint],
) -> None:
    solver = name_model(name="Solver")
    job = ask(make([source(11)]), {**SYNTHESIS, "solver": "solver"}).json()["job"]["id"]
    assert api("admin").delete(f"/api/v1/judge-endpoints/{solver.id}").status_code == 409
    JudgeEndpoint.objects.filter(pk=solver.pk).delete()
    carry_out(job)
    assert LabJob.objects.get().error == "The judge endpoint 'solver' was deleted in the meantime."
