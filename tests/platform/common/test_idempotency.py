"""Idempotency-Key: nothing is made twice, and a kill in the middle leaves nothing."""

import threading
from collections.abc import Callable
from datetime import timedelta
from io import BytesIO

import pytest
from django.db import connection
from django.utils import timezone
from rest_framework.test import APIClient

from dressage.common.models import StoredResponse
from dressage.datasets.models import Dataset, DatasetVersion
from dressage.rewards import services
from dressage.rewards.models import Reward, RewardVersion

BODY = {"name": "Sums", "definition": {"components": [{"name": "a", "grader": {"type": "exact"}}]}}


def post(client: APIClient, key: str, body: dict | None = None, path: str = "/api/v1/rewards") -> object:
    return client.post(path, body or BODY, format="json", HTTP_IDEMPOTENCY_KEY=key)


def test_a_retry_gets_the_first_answer(api: Callable[..., APIClient]) -> None:
    client = api("editor")
    first, again = post(client, "k1"), post(client, "k1", dict(reversed(BODY.items())))
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    assert again["Idempotency-Replayed"] == "true"
    assert "Idempotency-Replayed" not in first
    assert Reward.objects.count() == 1


def test_another_body_is_refused(api: Callable[..., APIClient]) -> None:
    client = api("editor")
    post(client, "k1")
    response = post(client, "k1", {**BODY, "name": "Other"})
    assert (response.status_code, response.json()["error"]["code"]) == (422, "idempotency_key_reused")
    assert Reward.objects.count() == 1


def test_a_refused_request_can_be_corrected(api: Callable[..., APIClient]) -> None:
    client = api("editor")
    assert post(client, "k1", {**BODY, "definition": {}}).status_code == 422
    assert post(client, "k1").status_code == 201


def test_keys_of_teams_and_routes_are_apart(api: Callable[..., APIClient], other_team: object) -> None:
    mine, theirs = api("editor"), api("editor", team=other_team)
    made = post(mine, "k").json()
    assert post(theirs, "k").json()["id"] != made["id"]
    version = post(mine, "k", {"definition": BODY["definition"]}, f"/api/v1/rewards/{made['id']}/versions")
    assert version.json()["number"] == 2


def test_keys_are_forgotten_after_a_day(api: Callable[..., APIClient]) -> None:
    client = api("editor")
    post(client, "k1")
    StoredResponse.objects.update(created_at=timezone.now() - timedelta(hours=25))
    assert post(client, "k1").status_code == 409  # runs again, and meets its own slug


@pytest.mark.parametrize("key", ["", "x" * 256, "né"])
def test_malformed_keys(api: Callable[..., APIClient], key: str) -> None:
    assert post(api("editor"), key).status_code == 422
    assert Reward.objects.count() == 0


def test_a_viewer_learns_nothing_from_a_key(api: Callable[..., APIClient]) -> None:
    post(api("editor"), "k1")
    assert post(api("viewer"), "k1").status_code == 403


def test_a_fault_in_the_middle_leaves_nothing(api: Callable[..., APIClient], monkeypatch: pytest.MonkeyPatch) -> None:
    client = api("editor")

    def die(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(services, "record_audit", die)
        with pytest.raises(KeyboardInterrupt):
            post(client, "k1")
    assert (Reward.objects.count(), RewardVersion.objects.count(), StoredResponse.objects.count()) == (0, 0, 0)
    assert post(client, "k1").status_code == 201


def test_uploads_compare_content_not_boundaries(api: Callable[..., APIClient]) -> None:
    client = api("editor")

    def upload(text: bytes) -> object:
        file = BytesIO(text)
        file.name = "rows.jsonl"
        form = {"name": "Sums", "file": file}
        return client.post("/api/v1/datasets", form, format="multipart", HTTP_IDEMPOTENCY_KEY="u")

    assert upload(b'{"prompt": "1+1="}').status_code == 201
    assert upload(b'{"prompt": "1+1="}').status_code == 201
    assert upload(b'{"prompt": "1+2="}').status_code == 422
    assert (Dataset.objects.count(), DatasetVersion.objects.count()) == (1, 1)


def test_a_value_does_not_run_into_the_next_field(api: Callable[..., APIClient]) -> None:
    def upload(**form: str) -> object:
        body = {"file": BytesIO(b'{"prompt": "a"}'), **form}
        return api("editor").post("/api/v1/datasets", body, format="multipart", HTTP_IDEMPOTENCY_KEY="u")

    assert upload(name="Sums\0slug\0sums").status_code == 422, "no name"
    assert upload(name="Sums", slug="sums").status_code == 201
    joined = upload(name="Sums", slug="sums\0upload\0")
    assert (joined.status_code, joined.json()["error"]["code"]) == (422, "idempotency_key_reused")


@pytest.mark.django_db(transaction=True)
def test_in_flight_is_409(api: Callable[..., APIClient], monkeypatch: pytest.MonkeyPatch) -> None:
    first_client, second_client = api("editor"), api("editor")
    entered, leave, answers = threading.Event(), threading.Event(), []
    record = services.record_audit

    def slow(*args: object, **kwargs: object) -> object:
        entered.set()
        assert leave.wait(30)
        return record(*args, **kwargs)

    monkeypatch.setattr(services, "record_audit", slow)

    def first() -> None:
        answers.append(post(first_client, "k1").status_code)
        connection.close()

    thread = threading.Thread(target=first)
    thread.start()
    assert entered.wait(30)
    response = post(second_client, "k1")
    assert (response.status_code, response.json()["error"]["code"]) == (409, "idempotency_in_flight")
    leave.set()
    thread.join(30)
    assert answers == [201]
    assert Reward.objects.count() == 1
