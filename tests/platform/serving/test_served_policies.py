"""Policies served over HTTP: who starts and stops them, what the worker learns of the key, and how they end."""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from django.test import TestCase
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.jobs.tasks import sweep_jobs
from dressage.policies.models import Policy
from dressage.serving import services
from dressage.serving.models import Serving
from dressage.teams.models import AuditEntry, Team
from tests.platform.jobs import age, enqueued
from tests.platform.serving.fixtures import ServingWorker, register_policy

__all__ = ["enqueued"]
STARTER = Path(__file__).parents[3] / "demo" / "starter-policy"
SERVINGS = "/api/v1/servings"
URL = "http://127.0.0.1:40001/v1"
Client = Callable[..., APIClient]


@pytest.fixture(autouse=True)
def policy(team: Team) -> Policy:
    register_policy(team)
    Policy.objects.update(path=str(STARTER))
    return Policy.objects.get()


def start(client: APIClient, status: int = 202, **body: Any) -> Any:
    with TestCase.captureOnCommitCallbacks(execute=True):
        response = client.post(SERVINGS, {"policy": "tiny", **body}, format="json")
    assert response.status_code == status, response.content
    return response.json()


def get(client: APIClient, serving: Any) -> Any:
    return client.get(f"{SERVINGS}/{serving['id']}").json()


def sweep() -> None:
    with TestCase.captureOnCommitCallbacks(execute=True):
        sweep_jobs()


def test_the_key_is_shown_once_and_the_worker_learns_its_hash(api: Client, policy: Policy, enqueued: list[str]) -> None:
    editor = api("editor")
    made = start(editor)
    key = made.pop("key")
    assert key.startswith("dgw_") and len(key) > 40
    assert (made["policy"], made["policy_id"], made["state"], made["base_url"]) == ("tiny", policy.id, "queued", None)
    assert enqueued == [made["id"]]
    assert get(editor, made) == made
    assert editor.get(SERVINGS).json()["data"] == [made]
    row = Serving.objects.values().get()
    assert row["key_sha256"] == sha256(key.encode()).hexdigest()
    job = ServingWorker(made["id"]).take()
    assert job["models"]["tiny"]["model_dir"] == str(STARTER)
    assert job["gateway"] == {"key_sha256": row["key_sha256"], "idle_s": services.IDLE_S}
    everything = f"{row} {job} {list(AuditEntry.objects.values())}"
    assert key not in everything


def test_the_address_is_known_while_a_worker_serves(api: Client, enqueued: list[str]) -> None:
    editor = api("editor")
    made = start(editor)
    worker = ServingWorker(made["id"])
    worker.take()
    assert (get(editor, made)["state"], get(editor, made)["base_url"]) == ("running", None)
    worker.renew(base_url=URL)
    worker.renew()
    assert get(editor, made)["base_url"] == URL
    age(Serving, made["id"], lease_expires_at=1)
    sweep()
    lost = get(editor, made)
    assert (lost["state"], lost["base_url"]) == ("queued", None), "another worker has another address"
    assert enqueued == [made["id"]] * 2


@pytest.mark.parametrize("url", ["https://x/v1", "http://a b/v1", "http://x/v1'; rm -rf /", "javascript:alert(1)", ""])
def test_an_address_that_is_none_is_refused(api: Client, url: str) -> None:
    made = start(api("editor"))
    worker = ServingWorker(made["id"])
    worker.take()
    worker.renew(422, base_url=url)
    assert Serving.objects.get().progress is None


def test_a_person_stops_it(api: Client, enqueued: list[str]) -> None:
    editor = api("editor")
    made = start(editor)
    worker = ServingWorker(made["id"])
    worker.take()
    worker.renew(base_url=URL)
    for _ in range(2):
        response = editor.post(f"{SERVINGS}/{made['id']}/stop")
        assert response.status_code == 202
        stopped = response.json()
        assert (stopped["state"], stopped["base_url"], stopped["error"]) == ("done", None, None)
    worker.renew(409, base_url=URL)
    assert sorted(AuditEntry.objects.values_list("action", flat=True)) == ["serving.start", "serving.stop"]
    again = start(editor)
    assert again["id"] != made["id"], "it can be served again"


def test_its_worker_ends_it_when_no_client_uses_it(api: Client) -> None:
    made = start(api("editor"))
    worker = ServingWorker(made["id"])
    worker.take()
    assert worker.answer(error=None) == {"state": "done"}
    assert Serving.objects.get().error is None


def test_its_worker_says_why_it_cannot_serve(api: Client) -> None:
    editor = api("editor")
    made = start(editor)
    worker = ServingWorker(made["id"])
    worker.take()
    worker.answer(error="The cluster is too small.")
    failed = get(editor, made)
    assert (failed["state"], failed["error"]) == ("failed", "The cluster is too small.")


def test_it_lasts_though_no_job_asks(api: Client, team: Team, actor: Actor) -> None:
    made = start(api("editor"))
    age(Serving, made["id"], asked_at=3600)
    sweep()
    assert Serving.objects.get().state == "queued"


def test_a_policy_is_served_once_and_a_team_serves_a_few(api: Client, team: Team, policy: Policy) -> None:
    editor = api("editor")
    start(editor)
    assert start(editor, 409)["error"]["code"] == "served_already"
    for number in range(services.MOST_POLICIES):
        Policy.objects.create(
            team=team, slug=f"p{number}", name="P", path=str(STARTER), architecture="A", parameters=1, vocab_size=1,
            max_position_embeddings=96, bytes=1, sha256="0", created_by="x",
        )  # fmt: skip
    for number in range(services.MOST_POLICIES - 1):
        start(editor, policy=f"p{number}")
    refused = start(editor, 429, policy=f"p{services.MOST_POLICIES - 1}")
    assert refused["error"]["code"] == "too_many_servings"
    assert Serving.objects.count() == services.MOST_POLICIES


def test_a_policy_that_cannot_chat_is_refused(api: Client, tmp_path: Path, policy: Policy) -> None:
    for name in ("tokenizer.json", "tokenizer_config.json", "config.json", "model.safetensors"):
        (tmp_path / name).write_bytes((STARTER / name).read_bytes())
    Policy.objects.update(path=str(tmp_path))
    error = start(api("editor"), 422)["error"]
    assert "has no chat template" in str(error)
    assert not Serving.objects.exists()


def test_what_does_not_exist_is_refused(api: Client) -> None:
    editor = api("editor")
    assert "There is no policy 'nothing'" in str(start(editor, 422, policy="nothing"))
    assert "There is no cluster 'nowhere'" in str(start(editor, 422, cluster="nowhere"))
    assert not Serving.objects.exists()


def test_a_policy_whose_folder_was_replaced_fails_it(api: Client, tmp_path: Path) -> None:
    editor = api("editor")
    made = start(editor)
    (tmp_path / "link").symlink_to(STARTER)
    Policy.objects.update(path=str(tmp_path / "link"))
    ServingWorker(made["id"]).take(409)
    failed = get(editor, made)
    assert (failed["state"], "its folder does not belong to this team" in failed["error"]) == ("failed", True)


def test_other_people_see_and_do_nothing(api: Client, other_team: Team, team: Team) -> None:
    viewer = api("viewer")
    assert viewer.post(SERVINGS, {"policy": "tiny"}, format="json").status_code == 403
    made = start(api("editor"))
    assert "key" not in get(viewer, made)
    assert viewer.post(f"{SERVINGS}/{made['id']}/stop").status_code == 403
    rival = api("admin", team=other_team)
    assert rival.get(SERVINGS).json()["data"] == []
    for response in (rival.get(f"{SERVINGS}/{made['id']}"), rival.post(f"{SERVINGS}/{made['id']}/stop")):
        assert response.status_code == 404
    assert "There is no policy" in str(start(rival, 422))
    assert Serving.objects.get().state == "queued"


def test_a_retry_gets_the_same_key_and_no_one_else_does(api: Client) -> None:
    editor, colleague = api("editor"), api("editor")

    def post(client: APIClient) -> Any:
        return client.post(SERVINGS, {"policy": "tiny"}, format="json", headers={"Idempotency-Key": "k"})

    first = post(editor)
    assert first.status_code == 202
    assert post(editor).json() == first.json()
    assert post(colleague).status_code == 422
    assert Serving.objects.count() == 1


def test_what_a_job_has_served_is_not_listed(api: Client, team: Team, actor: Actor) -> None:
    from dressage.rewards.judges.services import create_judge_endpoint

    create_judge_endpoint(team, actor, name="Own", slug="own", model="own", policy="tiny")
    serving = services.open_serving(team, actor, "lab_1", {"endpoint": "own"})
    editor = api("editor")
    assert editor.get(SERVINGS).json()["data"] == []
    assert editor.post(f"{SERVINGS}/{serving.pk}/stop").status_code == 404
    assert Serving.objects.get().state == "queued"
    assert ServingWorker(serving.pk).take().get("gateway") is None
