"""Servings: questions that are handed out until they are answered, and what becomes of lost workers and askers."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import TestCase
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.jobs.tasks import sweep_jobs
from dressage.rewards.judges.services import create_judge_endpoint
from dressage.serving import services
from dressage.serving.models import Serving, WaitingQuestion
from dressage.teams.models import Team
from tests.platform.jobs import age, enqueued
from tests.platform.serving.fixtures import FOLDER, ServingWorker, register_policy
from trainer_core.link.admission import SCHEME, proof
from trainer_core.link.jobs import SERVING

__all__ = ["enqueued"]
ASKED = {"model": "endpoint", "prompt": "1+1=", "max_tokens": 8}
Open = Callable[..., Serving]


@pytest.fixture
def open_one(team: Team, actor: Actor) -> Open:
    """``open_one()``: the serving of the policy of the endpoint ``own``, for the job ``lab_1``."""
    register_policy(team)
    create_judge_endpoint(team, actor, name="Own", slug="own", model="own", policy="tiny")

    def opened(asked_for: str = "lab_1", **endpoints: str) -> Serving:
        return services.open_serving(team, actor, asked_for, endpoints or {"endpoint": "own"})

    return opened


def sweep() -> None:
    with TestCase.captureOnCommitCallbacks(execute=True):
        sweep_jobs()


def state(serving: Serving) -> tuple[str, str | None]:
    found = Serving.objects.get(pk=serving.pk)
    return found.state, found.error


def test_questions_are_handed_out_until_they_are_answered(open_one: Open) -> None:
    serving = open_one()
    worker = ServingWorker(serving.pk)
    models = worker.take()["models"]
    assert models["endpoint"]["model_dir"] == FOLDER
    services.put(serving.pk, {"srq_1": ASKED, "srq_2": {**ASKED, "prompt": "2+2="}})
    assert worker.exchange(room=1) == [{"id": "srq_1", **ASKED}]
    assert [one["id"] for one in worker.exchange(room=1, holding=["srq_1"])] == ["srq_2"]
    # one whose worker lost the answer, or was lost itself, is handed out again
    assert [one["id"] for one in worker.exchange(room=8, holding=["srq_2"])] == ["srq_1"]
    assert services.fetch(serving.pk) == {}
    said = {"id": "srq_1", "text": "2\0", "prompt_tokens": 4, "completion_tokens": 1}
    assert [one["id"] for one in worker.exchange(answers=[said], room=8)] == ["srq_2"]
    assert worker.exchange(answers=[{**said, "text": "3"}, {"id": "srq_9", "text": "x"}], room=0) == []
    answer = {"text": "2\ufffd", "prompt_tokens": 4, "completion_tokens": 1, "finish_reason": "stop", "error": None}
    assert services.fetch(serving.pk) == {"srq_1": answer}
    assert services.fetch(serving.pk) == {}
    assert [one.pk for one in WaitingQuestion.objects.all()] == ["srq_2"]


def test_a_process_that_begins_anew_asks_anew(open_one: Open, enqueued: list[str]) -> None:
    with TestCase.captureOnCommitCallbacks(execute=True):
        serving = open_one()
    ServingWorker(serving.pk).take()
    services.put(serving.pk, {"srq_1": ASKED})
    with TestCase.captureOnCommitCallbacks(execute=True):
        assert open_one() == serving, "its engine is up already"
        other = open_one("lab_2")
    assert not WaitingQuestion.objects.exists()
    assert enqueued == [serving.pk, other.pk]


def test_other_models_are_another_serving(open_one: Open) -> None:
    serving = open_one()
    worker = ServingWorker(serving.pk)
    worker.take()
    another = open_one(endpoint="own", solver="own")
    assert another != serving
    assert state(serving) == ("done", None)
    worker.exchange(409)
    worker.renew(409)


def test_nobody_asks_any_more(open_one: Open) -> None:
    closed, left, open_ = open_one(), open_one("lab_2"), open_one("lab_3")
    services.put(closed.pk, {"srq_1": ASKED})
    services.close_serving(closed.pk)
    services.close_serving(closed.pk)
    assert (state(closed), WaitingQuestion.objects.count()) == (("done", None), 0)
    age(Serving, left.pk, asked_at=61)
    age(Serving, open_.pk, asked_at=59)
    sweep()
    assert (state(left), state(open_)) == (("done", None), ("queued", None))
    ServingWorker(left.pk).exchange(409, room=1)
    age(Serving, left.pk, finished_at=86_401)
    sweep()
    assert set(Serving.objects.all()) == {closed, open_}


def test_lost_workers(open_one: Open, enqueued: list[str]) -> None:
    serving = open_one()
    worker = ServingWorker(serving.pk)
    services.put(serving.pk, {"srq_1": ASKED, "srq_2": ASKED})
    for _ in range(2):
        worker.take()
        age(Serving, serving.pk, lease_expires_at=1)
        sweep()
    worker.take()
    worker.exchange(answers=[{"id": "srq_1", "text": "2"}])
    age(Serving, serving.pk, lease_expires_at=1)
    sweep()
    assert state(serving) == ("queued", None), "one that had answered counts for none"
    assert enqueued == [serving.pk] * 3
    for _ in range(2):
        worker.take()
        age(Serving, serving.pk, lease_expires_at=1)
        sweep()
    lost = "3 workers were lost while they served the model: the cluster may lack the memory for it."
    assert state(serving) == ("failed", lost)
    worker.take(409)


def test_one_that_nobody_takes_fails(open_one: Open) -> None:
    serving = open_one()
    age(Serving, serving.pk, created_at=601)
    sweep()
    assert state(serving) == (
        "failed",
        "No worker of the cluster has taken the model within 10 minutes: is it running?",
    )


def test_a_worker_says_why_it_cannot_serve(open_one: Open) -> None:
    serving = open_one()
    worker = ServingWorker(serving.pk)
    worker.take()
    services.put(serving.pk, {"srq_1": ASKED})
    assert worker.answer(error="The cluster is too small.") == {"state": "failed"}
    assert (state(serving), WaitingQuestion.objects.count()) == (("failed", "The cluster is too small."), 0)


def test_only_its_own_worker_is_let_in(open_one: Open, settings: Any, api: Callable[..., APIClient]) -> None:
    serving, other = open_one(), open_one("lab_2")
    path = SERVING.token_address(serving.pk)
    given = proof(settings.CLUSTER_SECRET, settings.LINK_URL, path)
    token = APIClient(headers={"Authorization": f"{SCHEME} {given}"}).post(path).json()["token"]
    assert APIClient(headers={"Authorization": f"{SCHEME} 00"}).post(path).status_code == 401
    stranger = ServingWorker(other.pk, token)
    stranger.take(403)
    stranger.exchange(403, room=1)
    assert api("admin").post(f"/api/v1/link/servings/{serving.pk}/exchange", {}, format="json").status_code == 401
    ServingWorker(serving.pk, token).take()


def test_questions_beyond_some_megabytes_wait(open_one: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "_HANDED_OUT_BYTES", 150)
    serving = open_one()
    services.put(serving.pk, {f"srq_{number}": ASKED for number in range(5)})
    found = ServingWorker(serving.pk).exchange(room=5)
    assert [one["id"] for one in found] == ["srq_0", "srq_1"]
