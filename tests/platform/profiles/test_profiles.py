"""Profiles over REST and over the link: their life, what is refused, and the versions that are made of them."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.datasets.models import DatasetVersion, RowNotes
from dressage.datasets.versions import notes, storage
from dressage.jobs.tasks import sweep_jobs
from dressage.profiles.models import HandedInBatch, Profile
from dressage.profiles.services import LEAST_LIMIT_S, LIMIT_S
from dressage.rewards.models import RewardVersion
from dressage.teams.models import AuditEntry, Team
from tests.platform.jobs import age
from tests.platform.profiles.fixtures import ProfileWorker, body, row, spec
from tests.platform.retries import check_retry
from trainer_core.link.profile import ProfileJob

Start = Callable[..., Any]
Read = Callable[[str], Any]


def finish(start: Start, *rows: dict[str, Any]) -> str:
    """A profile of ``rows`` that is done. Returns its id."""
    made: str = start()["id"]
    worker = ProfileWorker(made)
    worker.take()
    worker.hand_in(0, *rows)
    worker.answer(stopped="settled", votes=True)
    return made


def test_a_profile_from_beginning_to_end(start: Start, read: Read) -> None:
    made = start()
    assert (made["state"], made["version"], made["policy"], made["threshold"]) == ("queued", "sums@1", "small", 0.5)
    assert (made["plan"]["first"], made["plan"]["budget"], made["report"], made["ahead"]) == (4, 16, None, 0)
    worker = ProfileWorker(made["id"])
    job = ProfileJob.model_validate(worker.take())
    assert (job.threshold, job.batches, job.done, job.plan.budget) == (0.5, 0, (), 16)
    file = worker.client.get(job.bundle.datasets["sums@1"].url)
    assert (file.status_code, b"".join(file.streaming_content)[:4]) == (200, b"PAR1")
    assert worker.renew(phase="sampling", done=4, total=16) == {"lease_s": Profile.lease_s}
    assert read(made["id"])["progress"] == {"phase": "sampling", "done": 4, "total": 16}
    assert worker.hand_in(0, row(0, 4, 1, is7=3), row(1, 4, 4)) == {"batches": 1}
    assert worker.hand_in(1, row(0, 8, 1, is7=7)) == {"batches": 2}
    assert worker.answer(stopped="budget", votes=True) == {"state": "done"}
    assert worker.answer(stopped="budget", votes=True) == {"state": "done"}, "a worker may repeat itself"
    report = read(made["id"])["report"]
    assert (report["stopped"], report["asked"], report["graded"], report["rows"]) == ("budget", 12, 12, 2)
    assert report["states"] == [
        {"samples": 4, "correct": 4, "rows": 1},
        {"samples": 8, "correct": 1, "rows": 1},
    ]
    shares = [one["share"] for one in report["dead_shares"]]
    assert shares == sorted(shares, reverse=True), "the larger a group, the seldomer it is dead"
    version = DatasetVersion.objects.get()
    found = notes.read(version, "difficulty").to_pylist()
    assert [(one["pass_rate"], one["samples"], one["correct"]) for one in found] == [(0.125, 8, 1), (1.0, 4, 4)]
    assert found[0]["low"] == pytest.approx(0.0224, abs=1e-3)
    assert notes.read(version, "suspect").to_pylist() == [
        {"suspect": False, "answer": "7", "votes": 7, "agreement": 0.875},
        {"suspect": False, "answer": None, "votes": None, "agreement": None},
    ]
    assert notes.named(version, "difficulty").source["id"] == made["id"]
    left = list(HandedInBatch.objects.values_list("rows", flat=True))
    assert left == [[], []], "what nobody reads any more is not kept"


def test_another_worker_goes_on_behind_what_was_handed_in(start: Start, read: Read, enqueued: list[str]) -> None:
    made = start()["id"]
    first = ProfileWorker(made)
    first.take()
    first.hand_in(0, row(0, 4, 2, is9=2))
    age(Profile, made, lease_expires_at=1)
    sweep_jobs()
    assert Profile.objects.get().state == "queued"
    second = ProfileWorker(made)
    job = ProfileJob.model_validate(second.take())
    assert job.batches == 1
    assert [(one.row, one.samples, one.correct, one.answers[0].text) for one in job.done] == [(0, 4, 2, "9")]
    assert second.hand_in(0, row(0, 4, 2, is9=2)) == {"batches": 1}, "the same batch may come again"
    second.hand_in(1, row(1, 4, 0))
    assert first.hand_in(1, row(1, 4, 3), status=409)["error"]["code"] == "another_batch"
    second.answer(stopped="settled", votes=False)
    assert read(made)["report"]["states"] == [
        {"samples": 4, "correct": 0, "rows": 1},
        {"samples": 4, "correct": 2, "rows": 1},
    ]
    assert list(RowNotes.objects.values_list("name", flat=True)) == ["difficulty"], "no place of answers was read"


def test_a_profile_whose_workers_get_nowhere_fails(start: Start, read: Read) -> None:
    made = start()["id"]
    for _ in range(3):
        ProfileWorker(made).take()
        age(Profile, made, lease_expires_at=1)
        sweep_jobs()
    found = read(made)
    assert found["state"] == "failed"
    assert found["error"].startswith("3 workers were lost")
    assert RowNotes.objects.count() == 0


def lose(made: str, times: int) -> None:
    """Have so many workers taken a profile and be lost."""
    for _ in range(times):
        ProfileWorker(made).take()
        age(Profile, made, lease_expires_at=1)
        sweep_jobs()


def fail_with_answer(made: str) -> None:
    assert ProfileWorker(made).answer(error="The engine is gone.") == {"state": "done"}


def be_endless(made: str) -> None:
    age(Profile, made, started_at=2 * LIMIT_S + 1)
    sweep_jobs()


@pytest.mark.parametrize(
    ("end", "stopped", "reason"),
    [
        (fail_with_answer, "lost", "The engine is gone."),
        (lambda made: lose(made, 3), "lost", "3 workers were lost"),
        (be_endless, "time", "The profile did not finish within 12 hours."),
    ],
)
def test_what_was_handed_in_outlives_its_workers(
    start: Start, read: Read, enqueued: list[str], end: Callable[[str], None], stopped: str, reason: str
) -> None:
    made = start()["id"]
    worker = ProfileWorker(made)
    worker.take()
    worker.hand_in(0, row(0, 4, 1, is7=3))
    end(made)
    found = read(made)
    assert (found["state"], found["error"], found["report"]["stopped"]) == ("done", None, stopped)
    [warning] = found["report"]["warnings"]
    assert warning.startswith(reason)
    version = DatasetVersion.objects.get()
    assert notes.read(version, "difficulty").column("pass_rate").to_pylist() == [0.25, None]
    assert notes.read(version, "suspect").column("answer").to_pylist() == ["7", None]
    worker.renew(409)


def test_the_time_of_sampling_is_that_of_all_workers(start: Start, enqueued: list[str]) -> None:
    made = start()["id"]
    first = ProfileWorker(made)
    assert first.take()["limit_s"] == LIMIT_S
    first.hand_in(0, row(0, 4, 1))
    assert ProfileWorker(made).take()["limit_s"] == LIMIT_S - 2.0
    HandedInBatch.objects.update(seconds=LIMIT_S)
    assert ProfileWorker(made).take()["limit_s"] == LEAST_LIMIT_S


def test_the_report_shows_the_gold_that_answers_were_compared_with(start: Start, team: Team) -> None:
    made = start()["id"]
    grader = {"type": "math", "reference": "prompt"}
    RewardVersion.objects.update(definition={"components": [{"name": "right", "grader": grader}]})
    worker = ProfileWorker(made)
    worker.take()
    worker.hand_in(0, row(0, 64, 0, is7=64), row(1, 64, 64))
    worker.answer(stopped="settled", votes=True)
    [suspect] = Profile.objects.get().report["suspects"]
    [asked] = storage.read_rows(DatasetVersion.objects.get().path, 0, 1)
    assert (suspect["gold"], suspect["answer"]) == (asked["prompt"], "7")


@pytest.mark.parametrize(
    ("batch", "pointer"),
    [
        ([row(2, 4, 1)], "/rows"),
        ([row(0, 4, 5)], "/rows/0"),
        ([], "/rows"),
    ],
)
def test_what_a_worker_hands_in_is_checked(start: Start, batch: list[Any], pointer: str) -> None:
    worker = ProfileWorker(start()["id"])
    worker.take()
    refused = worker.hand_in(0, *batch, status=422)
    assert [error["pointer"] for error in refused["errors"]] == [pointer]
    assert HandedInBatch.objects.count() == 0


def test_a_profile_without_a_graded_sample_fails(start: Start, read: Read) -> None:
    made = start()["id"]
    worker = ProfileWorker(made)
    worker.take()
    worker.hand_in(0, {"row": 0, "asked": 4, "samples": 0, "correct": 0})
    assert worker.answer(stopped="settled") == {"state": "failed"}
    assert read(made)["error"].startswith("No sample could be graded")
    assert RowNotes.objects.count() == 0


TWO = {"name": "more", "dataset": "sums@1"}


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"spec": spec(reward={"definition": "other@1"})}, "/spec/reward/definition"),
        ({"spec": spec(data={"sources": [{"name": "rows", "dataset": "gone@1"}]})}, "/spec/data/sources/0/dataset"),
        ({"spec": spec(data={"sources": [{"name": "rows", "dataset": "sums@1"}, TWO]})}, "/spec/data/sources"),
        ({"plan": {"budget": 1}}, "/plan/budget"),
        ({"plan": {}}, "/plan/budget"),
        ({"plan": {"budget": 16, "first": 9, "most": 8}}, "/plan"),
        ({"plan": {"budget": 16, "min_pass_rate": 0.5, "max_pass_rate": 0.5}}, "/plan"),
        ({"cluster": "nowhere"}, "/cluster"),
    ],
)
def test_what_cannot_be_profiled_is_refused(start: Start, changes: dict[str, Any], pointer: str) -> None:
    assert [error["pointer"] for error in start(422, **changes)["errors"]] == [pointer]
    assert (Profile.objects.count(), AuditEntry.objects.filter(action__startswith="profile").count()) == (0, 0)


def test_every_row_gets_its_first_samples_or_nothing_begins(start: Start, api: Callable[..., APIClient]) -> None:
    for plan, way in (({"budget": 7}, "first: 3"), ({"budget": 3}, "a version of fewer rows")):
        refused = start(422, plan=plan)
        [error] = refused["errors"]
        assert error["pointer"] == "/plan/budget"
        assert "4 first samples each need 8" in error["detail"]
        assert error["detail"].endswith(f"Set a budget of 8, or {way}.")
        cost = api("editor").post("/api/v1/profiles/cost", body(plan=plan), format="json")
        assert (cost.status_code, cost.json()["errors"]) == (422, refused["errors"])
    assert Profile.objects.count() == 0
    assert start(plan={"budget": 7, "first": 3})["state"] == "queued"


def test_the_cost_comes_first(start: Start, api: Callable[..., APIClient]) -> None:
    asked = {"spec": spec(), "plan": {"budget": 1000, "most": 8}}
    client = api("editor")
    cost = client.post("/api/v1/profiles/cost", asked, format="json").json()
    assert (cost["rows"], cost["min_samples"], cost["max_samples"], cost["max_tokens"]) == (2, 8, 16, 512)
    assert (cost["min_seconds"], cost["measured_by"]) == (None, None)
    finish(start, row(0, 4, 1), row(1, 4, 4))
    cost = client.post("/api/v1/profiles/cost", asked, format="json").json()
    assert (cost["tokens_per_sample"], cost["max_seconds"], cost["measured_by"]) == (5.0, 4.0, "profile")


def test_who_only_reads_makes_nothing(start: Start, api: Callable[..., APIClient]) -> None:
    made = finish(start, row(0, 4, 1), row(1, 4, 4))
    client = api("viewer")
    for path, asked in (
        ("", body()),
        (f"/{made}/cancel", None),
        (f"/{made}/versions", {"min_pass_rate": 0.1}),
        ("/cost", body()),
    ):
        assert client.post(f"/api/v1/profiles{path}", asked, format="json").status_code == 403
    assert (Profile.objects.count(), DatasetVersion.objects.count()) == (1, 1)
    dataset = DatasetVersion.objects.get().dataset_id
    listed = client.get(f"/api/v1/datasets/{dataset}/versions/1/profiles").json()["data"]
    assert [one["id"] for one in listed] == [made]
    assert "report" not in listed[0]


def test_another_team_sees_nothing(start: Start, api: Callable[..., APIClient], other_team: Team) -> None:
    made = start()["id"]
    stranger = api("admin", team=other_team)
    assert stranger.get(f"/api/v1/profiles/{made}").status_code == 404
    for path in ("cancel", "versions"):
        assert stranger.post(f"/api/v1/profiles/{made}/{path}").status_code == 404
    assert stranger.post("/api/v1/profiles", body(), format="json").status_code == 422
    dataset = DatasetVersion.objects.get().dataset_id
    assert stranger.get(f"/api/v1/datasets/{dataset}/versions/1/profiles").status_code == 404
    assert list(Profile.objects.values_list("state", flat=True)) == ["queued"]


def test_a_retry_makes_no_second_one(api: Callable[..., APIClient], nouns: Any) -> None:
    client = api("editor")
    rows = lambda: list(Profile.objects.values())  # noqa: E731
    check_retry(client, lambda: client.post("/api/v1/profiles", body(), format="json"), rows)
    made = Profile.objects.get().id
    check_retry(client, lambda: client.post(f"/api/v1/profiles/{made}/cancel"), rows)
    actions = AuditEntry.objects.filter(action__startswith="profile").order_by("created_at")
    assert list(actions.values_list("action", flat=True)) == ["profile.create", "profile.cancel"]


def test_what_was_handed_in_is_kept_from_a_cancelled_one(start: Start, api: Callable[..., APIClient]) -> None:
    made = start()["id"]
    worker = ProfileWorker(made)
    worker.take()
    worker.hand_in(0, row(1, 4, 1))
    api("editor").post(f"/api/v1/profiles/{made}/cancel")
    worker.hand_in(1, row(0, 4, 1), status=409)
    worker.renew(409)
    worker.answer(409, stopped="settled")
    assert (HandedInBatch.objects.get().rows, RowNotes.objects.count()) == ([], 0)


def test_a_team_may_have_three_at_a_time(start: Start) -> None:
    for _ in range(3):
        start()
    assert start(429)["error"]["code"] == "too_many_profiles"
    assert Profile.objects.count() == 3


def test_rows_are_not_deleted_under_a_profile(start: Start, api: Callable[..., APIClient]) -> None:
    made = start()["id"]
    dataset = DatasetVersion.objects.get().dataset_id
    refused = api("editor").delete(f"/api/v1/datasets/{dataset}")
    assert refused.status_code == 409
    assert [(pin["kind"], pin["id"]) for pin in refused.json()["pins"]] == [("profile", made)]


def test_a_version_of_the_band(start: Start, api: Callable[..., APIClient]) -> None:
    made = finish(start, row(0, 8, 4, is7=4), row(1, 4, 4))
    client = api("editor")

    def derive(status: int, **asked: Any) -> Any:
        response = client.post(f"/api/v1/profiles/{made}/versions", asked, format="json")
        assert response.status_code == status, response.content
        return response.json()

    counted = derive(200, min_pass_rate=0.2, max_pass_rate=0.8, dry_run=True)
    assert (counted["counts"]["before"], counted["counts"]["after"]) == (2, 1)
    assert DatasetVersion.objects.count() == 1
    assert derive(201, min_pass_rate=0.2, max_pass_rate=0.8, latest=1)["results"][0]["ref"] == "sums@2"
    version = DatasetVersion.objects.get(number=2)
    assert version.operation["arguments"] == {
        "profile": made,
        "policy": "small",
        "min_pass_rate": 0.2,
        "max_pass_rate": 0.8,
        "without_suspects": False,
    }
    assert (version.operation["name"], version.parent.number, version.rows) == ("filter", 1, 1)
    assert derive(409, max_pass_rate=0.5, latest=1)["error"]["code"] == "newer_version"
    assert derive(422)["errors"][0]["pointer"] == "/min_pass_rate"
    assert derive(422, min_pass_rate=0.6, max_pass_rate=0.5)["errors"][0]["pointer"] == "/max_pass_rate"
    assert derive(422, min_pass_rate=0.6, max_pass_rate=0.7)["error"]["code"] == "no_rows"
    assert derive(201, without_suspects=True, into={"name": "Trusted"})["results"][0]["rows"] == 2
    finish(start, row(0, 4, 1), row(1, 4, 4))
    assert derive(409, min_pass_rate=0.5)["error"]["code"] == "notes_replaced"


def test_no_version_of_a_profile_that_is_not_done(start: Start, api: Callable[..., APIClient]) -> None:
    made = start()["id"]
    refused = api("editor").post(f"/api/v1/profiles/{made}/versions", {"min_pass_rate": 0.1}, format="json")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "profile_not_done")
    assert DatasetVersion.objects.count() == 1
