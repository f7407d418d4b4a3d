"""Rehearsals over REST and over the link: roles, teams, what is refused, and that no run is made."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import TestCase
from rest_framework.test import APIClient

from dressage.rehearsals import services
from dressage.rehearsals.models import Rehearsal
from dressage.runs.models import Run
from dressage.teams.models import AuditEntry, Team
from tests.platform.rehearsals.fixtures import RehearsalWorker, report
from tests.platform.retries import check_retry
from tests.platform.runs.fixtures import Worker, spec_document, step_event
from trainer_core.link.rehearsal import RehearsalJob
from trainer_core.planning.cluster import Scale

STARTER = Path(__file__).parents[3] / "demo" / "starter-policy"
Start = Callable[..., Any]
Read = Callable[[str], Any]


def test_a_rehearsal_from_beginning_to_end(start: Start, read: Read, nouns: Path) -> None:
    made = start(prompts=2, samples=3)
    assert (made["state"], made["prompts"], made["samples"], made["policy"]) == ("queued", 2, 3, "small")
    assert (made["report"], made["progress"], made["step_time"], made["ahead"]) == (None, None, None, 0)
    worker = RehearsalWorker(made["id"])
    job = RehearsalJob.model_validate(worker.take())
    assert (job.id, job.prompts, job.samples) == (made["id"], 2, 3)
    bundle = job.bundle
    assert (bundle.run_id, bundle.policy.path, bundle.reward.ref) == (made["id"], nouns, "exact@1")
    assert bundle.datasets["sums@1"].url == f"/api/v1/link/rehearsals/{made['id']}/datasets/sums@1"
    file = worker.client.get(bundle.datasets["sums@1"].url)
    assert (file.status_code, b"".join(file.streaming_content)[:4]) == (200, b"PAR1")
    assert worker.client.get(f"{worker.path}/datasets/other@1").status_code == 404
    assert worker.client.get(f"{worker.path}/datasets/other@1/difficulty").status_code == 404
    assert worker.client.get(f"{worker.path}/datasets/sums@1/difficulty").status_code == 404, "it has no such notes"
    assert worker.renew(phase="generating", done=1, total=2) == {"lease_s": Rehearsal.lease_s}
    held = read(made["id"])
    assert (held["state"], held["progress"]) == ("running", {"phase": "generating", "done": 1, "total": 2})
    assert worker.answer(report=report(1.0, 0.0)) == {"state": "done"}
    assert worker.answer(report=report(1.0, 0.0)) == {"state": "done"}, "a worker may repeat itself"
    done = read(made["id"])
    assert (done["state"], done["error"], done["progress"]) == ("done", None, None)
    assert (done["report"]["signal_share"], done["report"]["findings"][0]["kind"]) == (1.0, "all_cut")
    [group] = done["report"]["groups"]
    assert group["pieces"][0] == {"text": "<s>", "control": True}
    assert group["samples"][0]["reasons"] == {"a": "Reads “1”."}
    assert Run.objects.count() == 0


def test_without_an_earlier_run_only_the_engine_is_known(start: Start, read: Read) -> None:
    made = start()
    worker = RehearsalWorker(made["id"])
    worker.take()
    worker.answer(report=report(1.0, 0.0))
    found = read(made["id"])["step_time"]
    assert (found["step_seconds"], found["learn_seconds"], found["estimated"]) == (None, None, False)
    assert found["source"] == "this dry run's engine"
    # 8 prompts of 4 samples are the defaults of a step; 4 sequences of 100 tokens a second in all, 5.5 tokens each.
    spec = Rehearsal.objects.get().spec
    answers = spec["schedule"]["prompts_per_step"] * spec["rollout"]["group_size"]
    assert found["generate_seconds"] == pytest.approx(answers * 5.5 / 100.0, rel=0.25)


def measured(operations_per_s: float, *, gpu: bool) -> dict[str, Any]:
    """A worker's report with the peak of its device."""
    found = report(1.0, 0.0)
    return {**found, "speed": {**found["speed"], "peak": {"operations_per_s": operations_per_s, "gpu": gpu}}}


@pytest.mark.parametrize(("gpu", "share"), [(False, 0.5), (True, 1.0)])
def test_without_an_earlier_run_the_learner_is_estimated_by_its_machine(
    start: Start, read: Read, nouns: Path, gpu: bool, share: float
) -> None:
    shutil.copytree(STARTER, nouns, dirs_exist_ok=True)
    made = start(spec=spec_document(parallelism={"learner_ranks": 2}))
    worker = RehearsalWorker(made["id"])
    worker.take()
    worker.answer(report=measured(1e9, gpu=gpu))
    found = read(made["id"])["step_time"]
    assert found["estimated"] is True
    assert found["source"] == "this dry run's engine, and a learner estimated from the peak of the same machine"
    spec = Rehearsal.objects.get().spec
    answers = spec["schedule"]["prompts_per_step"] * spec["rollout"]["group_size"]
    tokens = answers * (5.5 + 3.0)
    # 8 operations a parameter and token; two ranks share the cores of a host, and have a GPU each.
    seconds = 8 * Scale.of(STARTER).working(4.25) * tokens / (2 * 1e9 * share * 0.6)
    assert found["learn_seconds"] == pytest.approx(seconds, rel=0.15)
    assert found["step_seconds"] > found["learn_seconds"]


def test_a_policy_whose_size_is_unknown_is_not_estimated(start: Start, read: Read, nouns: Path) -> None:
    made = start()
    worker = RehearsalWorker(made["id"])
    worker.take()
    worker.answer(report=measured(1e9, gpu=False))
    found = read(made["id"])["step_time"]
    assert (found["step_seconds"], found["learn_seconds"], found["estimated"]) == (None, None, False)


def test_a_step_time_of_a_former_release_is_no_estimate(start: Start, read: Read) -> None:
    made = start()
    kept = {"step_seconds": 1.0, "generate_seconds": 0.5, "learn_seconds": 0.5, "source": "the run 'first'"}
    Rehearsal.objects.update(step_time=kept)
    assert read(made["id"])["step_time"] == {**kept, "estimated": False}


def test_an_earlier_run_tells_the_time_of_a_whole_step(
    start: Start, read: Read, launch: Callable[..., tuple[Run, Worker]]
) -> None:
    _, worker_of_run = launch()
    metrics = {
        "timing_s/step": 10.0,
        "timing_s/generate": 4.0,
        "timing_s/reward": 0.5,
        "timing_s/learn": 4.0,
        "timing_s/sync": 1.0,
        "perf/engine_busy_share": 0.4,
        "perf/running_sequences": 8.0,
        "prompt_length/mean": 3.0,
        "response_length/mean": 6.0,
        "response_length/p50": 6.0,
        "groups/zero_advantage_share": 0.0,
    }
    worker_of_run.sync(*(step_event(number, **metrics) for number in range(1, 7)))
    made = start()
    worker = RehearsalWorker(made["id"])
    worker.take()
    worker.answer(report=measured(1e3, gpu=False))
    found = read(made["id"])["step_time"]
    assert (found["source"], found["estimated"]) == ("the run 'first'", False), "what was measured goes before"
    assert found["step_seconds"] == pytest.approx(10.0, rel=0.2)
    assert 0 < found["learn_seconds"] < found["step_seconds"]


@pytest.mark.parametrize("role", ["viewer"])
def test_who_only_reads_rehearses_nothing(start: Start, api: Callable[..., APIClient], role: str) -> None:
    made = start()
    client = api(role)
    assert client.post("/api/v1/rehearsals", {"spec": spec_document()}, format="json").status_code == 403
    assert client.post(f"/api/v1/rehearsals/{made['id']}/cancel").status_code == 403
    assert list(Rehearsal.objects.values_list("state", flat=True)) == ["queued"]
    listed = client.get("/api/v1/rehearsals").json()["data"]
    assert [row["id"] for row in listed] == [made["id"]]
    assert "report" not in listed[0]


def test_another_team_sees_nothing(start: Start, api: Callable[..., APIClient], other_team: Team) -> None:
    made = start()
    stranger = api("admin", team=other_team)
    assert stranger.get(f"/api/v1/rehearsals/{made['id']}").status_code == 404
    assert stranger.post(f"/api/v1/rehearsals/{made['id']}/cancel").status_code == 404
    assert stranger.get("/api/v1/rehearsals").json()["data"] == []
    refused = stranger.post("/api/v1/rehearsals", {"spec": spec_document()}, format="json")
    assert refused.status_code == 422, "the spec's names are another team's"
    assert list(Rehearsal.objects.values_list("state", flat=True)) == ["queued"]


def test_what_is_gone_is_told_before_anything_is_made(start: Start, nouns: Path) -> None:
    (nouns / "config.json").unlink()
    refused = start(422)
    assert refused["errors"] == [
        {"pointer": "/spec/policy/base", "detail": "The folder of the policy 'small' no longer exists."}
    ]
    assert Rehearsal.objects.count() == 0


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"spec": spec_document(reward={"definition": "other@1"})}, "/spec/reward/definition"),
        ({"spec": {}}, "/spec/policy"),
        ({"prompts": 0}, "/prompts"),
        ({"samples": 33}, "/samples"),
        ({"prompts": 32, "samples": 8}, "/samples"),
    ],
)
def test_what_cannot_be_rehearsed_is_refused(start: Start, body: dict[str, Any], pointer: str) -> None:
    assert pointer in [error["pointer"] for error in start(422, **body)["errors"]]
    assert (Rehearsal.objects.count(), AuditEntry.objects.filter(action__startswith="rehearsal").count()) == (0, 0)


def test_a_team_may_have_three_at_a_time(start: Start) -> None:
    for _ in range(services.MAX_OPEN):
        start()
    assert start(429)["error"]["code"] == "too_many_rehearsals"
    assert Rehearsal.objects.count() == services.MAX_OPEN


def test_a_retry_makes_no_second_one(api: Callable[..., APIClient], nouns: Any) -> None:
    client = api("editor")
    body = {"spec": spec_document()}
    check_retry(client, lambda: client.post("/api/v1/rehearsals", body, format="json"), lambda: _rows())
    made = Rehearsal.objects.get().id
    check_retry(client, lambda: client.post(f"/api/v1/rehearsals/{made}/cancel"), lambda: _rows())


def _rows() -> list[dict[str, Any]]:
    return list(Rehearsal.objects.values())


def test_acts_are_audited(start: Start, api: Callable[..., APIClient]) -> None:
    made = start()
    client = api("editor")
    for _ in range(2):
        assert client.post(f"/api/v1/rehearsals/{made['id']}/cancel").json()["state"] == "cancelled"
    found = AuditEntry.objects.filter(action__startswith="rehearsal").order_by("created_at")
    assert [entry.action for entry in found] == ["rehearsal.create", "rehearsal.cancel"]


ENDS: dict[str, Callable[[RehearsalWorker, str, APIClient], Any]] = {
    "done": lambda worker, made, client: worker.answer(report=report(1.0, 0.0)),
    "failed": lambda worker, made, client: worker.answer(error="no engine"),
    "cancelled": lambda worker, made, client: client.post(f"/api/v1/rehearsals/{made}/cancel"),
}


@pytest.mark.parametrize("end", ENDS)
def test_nothing_answers_the_token_of_a_rehearsal_that_is_over(
    start: Start, api: Callable[..., APIClient], end: str
) -> None:
    made = start()["id"]
    worker, client = RehearsalWorker(made), api("editor")
    worker.take()
    ENDS[end](worker, made, client)
    before = _rows()
    for call in (
        lambda: worker.take(409),
        lambda: worker.renew(409),
        lambda: worker.answer(409, report=report(0.0, 0.0)),
        lambda: worker.answer(409, error="late"),
    ):
        assert call()["error"]["code"] == "rehearsal_is_over"
    assert worker.client.get(f"{worker.path}/datasets/sums@1").status_code == 409
    assert worker.client.get(f"{worker.path}/datasets/sums@1/difficulty").status_code == 409
    cancelled = client.post(f"/api/v1/rehearsals/{made}/cancel")
    assert cancelled.status_code == (202 if end == "cancelled" else 409)
    assert _rows() == before


def test_a_token_is_good_for_its_own_rehearsal(start: Start) -> None:
    first, second = start()["id"], start()["id"]
    stranger = RehearsalWorker(first)
    stranger.path = RehearsalWorker(second).path
    assert stranger.take(403)["error"]["code"] == "foreign_token"
    RehearsalWorker(first, "rhs_guessed").take(401)
    RehearsalWorker(first, "bnc_guessed").take(401)
    assert set(Rehearsal.objects.values_list("state", flat=True)) == {"queued"}


def test_an_answer_that_cannot_be_read_fails_it(start: Start, read: Read) -> None:
    made = start()["id"]
    worker = RehearsalWorker(made)
    worker.take()
    worker.answer(422, report={"groups": []})
    assert read(made)["state"] == "failed"
    assert read(made)["error"].startswith("The worker's answer cannot be read: ")


def test_a_reference_that_has_gone_meanwhile_fails_it(start: Start, read: Read, team: Team) -> None:
    from dressage.policies.models import Policy

    made = start()["id"]
    Policy.objects.for_team(team).delete()
    assert RehearsalWorker(made).take(409)["error"]["code"] == "rehearsal_is_over"
    assert (read(made)["state"], "small" in read(made)["error"]) == ("failed", True)


def test_the_message_holds_no_secret(api: Callable[..., APIClient], nouns: Any, monkeypatch: Any) -> None:
    from dressage.celery import app

    sent: list[Any] = []
    monkeypatch.setattr(app, "send_task", lambda name, **options: sent.append((name, options["kwargs"])))
    with TestCase.captureOnCommitCallbacks(execute=True):
        made = api("editor").post("/api/v1/rehearsals", {"spec": spec_document()}, format="json").json()
    [(name, arguments)] = sent
    assert (name, arguments["job_id"], set(arguments)) == ("worker.tasks.rehearse", made["id"], {"job_id", "link_url"})
