"""Jobs that ask a policy which the cluster serves for them: answers, failures, cancelling, and workers that go on."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.datasets.models import DatasetVersion
from dressage.datasets.versions import notes
from dressage.lab import carry_out as carrying
from dressage.lab.carry_out import carry_out
from dressage.lab.models import LabJob
from dressage.rewards.models import JudgeEndpoint
from dressage.serving.models import Serving, WaitingQuestion
from dressage.teams.models import Team
from tests.platform.serving.fixtures import ServingWorker, register_policy
from tests.support.about import PLATFORM

ITEMS = [{"name": "clear", "description": "The question can be understood."}]
ASSESS = {"kind": "quality", "endpoint": "own", "items": ITEMS, "sample": 3}
Act = Callable[[ServingWorker], object]


def verdict(score: int) -> str:
    return json.dumps({"verdicts": [{"criterion": 1, "reason": "said", "score": score}]})


def answered(question: dict[str, Any], text: str, **more: Any) -> dict[str, Any]:
    return {"id": question["id"], "text": text, "prompt_tokens": 50, "completion_tokens": 5, **more}


@pytest.fixture
def own(team: Team, name_model: Callable[..., JudgeEndpoint]) -> JudgeEndpoint:
    """The endpoint ``own``, at which the cluster serves the policy ``tiny``."""
    register_policy(team)
    made = name_model(name="Own")
    JudgeEndpoint.objects.filter(pk=made.pk).update(base_url="", policy="tiny", api_key_sealed="")
    return made


@pytest.fixture
def cluster_acts(monkeypatch: pytest.MonkeyPatch) -> Callable[[Act], None]:
    """``cluster_acts(act)``: what the cluster does with the open serving between two looks of the platform's worker."""

    def use(act: Act) -> None:
        told = carrying.report

        def report(job: LabJob, **fields: Any) -> bool:
            serving = Serving.objects.filter(asked_for=job.pk, state__in=("queued", "running")).first()
            if serving is not None:
                act(ServingWorker(serving.pk))
            return told(job, **fields)

        monkeypatch.setattr(carrying, "report", report)

    return use


def score_all(worker: ServingWorker) -> None:
    """Answer whatever is asked: rows by the number that they end with."""
    questions = worker.exchange(room=8)
    said = []
    for question in questions:
        text = question["messages"][-1]["content"]
        said.append(answered(question, verdict(next(n for n in (1, 2, 3) if f"Row {n}" in text))))
    worker.exchange(answers=said)


@pytest.fixture
def version(make: Callable[..., DatasetVersion]) -> DatasetVersion:
    return make(["Row 1", "Row 2", "Row 3"])


def column(version: DatasetVersion, name: str) -> list[Any]:
    return notes.read(version, "quality").column(name).to_pylist()


@pytest.mark.expensive(3, "starts a job's process", about=PLATFORM)
def test_a_served_policy_is_asked(
    finish: Callable[..., LabJob],
    ask: Callable[..., Any],
    version: DatasetVersion,
    own: JudgeEndpoint,
    cluster_acts: Callable[[Act], None],
) -> None:
    assert ask(version, ASSESS, dry_run=True).json()["cost"]["asking"]["price"] is None
    assert not Serving.objects.exists()
    stages: list[str] = []

    def act(worker: ServingWorker) -> None:
        serving = Serving.objects.get(pk=worker.path.rpartition("/")[2])
        stages.append(LabJob.objects.get(pk=serving.asked_for).stage)
        if serving.state == "queued":
            assert list(worker.take()["models"]) == ["endpoint"]
        else:
            score_all(worker)

    cluster_acts(act)
    job = finish(version, ASSESS)
    assert (job.state, job.error) == ("done", "")
    assert column(version, "score") == [0.0, 0.25, 0.5]
    asked = (job.report or {})["quality"]["asked"]
    assert (asked["questions"], asked["prompt_tokens"], asked["completion_tokens"]) == (3, 150, 15)
    assert asked["price"] is None
    assert {"Waiting for the cluster", "The cluster is starting the model"} <= set(stages)
    assert [one.state for one in Serving.objects.all()] == ["done"]
    assert not WaitingQuestion.objects.exists()


@pytest.mark.expensive(3, "starts a job's process", about=PLATFORM)
def test_unanswered_rows_are_errors_and_unreadable_ones_are_asked_again(
    finish: Callable[..., LabJob], version: DatasetVersion, own: JudgeEndpoint, cluster_acts: Callable[[Act], None]
) -> None:
    seeds: list[int] = []

    def act(worker: ServingWorker) -> None:
        said = []
        for question in worker.exchange(room=8):
            text = question["messages"][-1]["content"]
            if "Row 1" in text:
                said.append(answered(question, verdict(5)))
            elif "Row 2" in text:
                said.append({"id": question["id"], "error": "the judge holds 96"})
            else:
                seeds.append(question.get("seed"))
                said.append(answered(question, "No verdict."))
        worker.exchange(answers=said)

    cluster_acts(act)
    assert finish(version, ASSESS).state == "done"
    assert column(version, "score") == [1.0, None, None]
    errors = column(version, "error")
    assert (errors[0], errors[1]) == (None, "the judge holds 96")
    assert "no JSON" in errors[2]
    assert len(set(seeds)) == 3


@pytest.mark.expensive(2, "starts a job's process", about=PLATFORM)
def test_a_cut_off_answer_is_no_answer(
    finish: Callable[..., LabJob], version: DatasetVersion, own: JudgeEndpoint, cluster_acts: Callable[[Act], None]
) -> None:
    def act(worker: ServingWorker) -> None:
        asked = worker.exchange(room=8)
        worker.exchange(answers=[answered(one, verdict(5), finish_reason="length") for one in asked])

    cluster_acts(act)
    job = finish(version, ASSESS)
    assert job.state == "failed"
    assert "cut off at 2048 tokens" in job.error and "150 prompt tokens" in job.error


@pytest.mark.expensive(2, "starts a job's process", about=PLATFORM)
def test_a_model_that_cannot_be_served_fails_the_job(
    finish: Callable[..., LabJob], version: DatasetVersion, own: JudgeEndpoint, cluster_acts: Callable[[Act], None]
) -> None:
    def act(worker: ServingWorker) -> None:
        worker.take()
        worker.answer(error="The cluster found no place for the model within 600 s.")

    cluster_acts(act)
    job = finish(version, ASSESS)
    assert job.state == "failed"
    assert "does not serve the model: The cluster found no place for the model within 600 s." in job.error
    assert notes.of(version) == []


def test_a_cancelled_job_ends_the_serving(
    ask: Callable[..., Any],
    editor: APIClient,
    version: DatasetVersion,
    own: JudgeEndpoint,
    cluster_acts: Callable[[Act], None],
) -> None:
    job = ask(version, ASSESS).json()["job"]["id"]
    cluster_acts(lambda worker: editor.post(f"/api/v1/lab-jobs/{job}/cancel"))
    carry_out(job)
    assert LabJob.objects.get().state == "cancelled"
    assert [one.state for one in Serving.objects.all()] == ["done"]


@pytest.mark.expensive(7, "starts a job's process", about=PLATFORM)
def test_a_worker_that_goes_on_finds_the_model_still_there(
    ask: Callable[..., Any],
    version: DatasetVersion,
    own: JudgeEndpoint,
    cluster_acts: Callable[[Act], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The platform's worker is stopped when one row is answered; the next asks about the others alone."""
    job = ask(version, ASSESS).json()["job"]["id"]
    seen: list[str] = []
    stopping = False
    monkeypatch.setattr(carrying, "is_stopping", lambda: stopping)

    def act(worker: ServingWorker) -> None:
        nonlocal stopping
        if not stopped and LabJob.objects.get().steps_done == 1:
            stopping = True
        elif stopped or not seen:
            for question in worker.exchange(room=1):
                text = question["messages"][-1]["content"]
                seen.append(next(f"Row {n}" for n in (1, 2, 3) if f"Row {n}" in text))
                worker.exchange(answers=[answered(question, verdict(int(seen[-1][-1])))])

    stopped = False
    cluster_acts(act)
    carry_out(job)
    [serving] = Serving.objects.all()
    assert (LabJob.objects.get().state, serving.state) == ("queued", "queued")
    assert len(seen) == 1
    stopping, stopped = False, True
    carry_out(job)
    assert LabJob.objects.get().state == "done"
    assert column(version, "score") == [0.0, 0.25, 0.5]
    assert sorted(seen) == ["Row 1", "Row 2", "Row 3"]
    assert [one.state for one in Serving.objects.all()] == ["done"]
