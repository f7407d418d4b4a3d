"""Operations that are sent again under their Idempotency-Key."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.common.models import StoredResponse
from dressage.teams.models import ApiToken
from tests.platform.common.operations import OPERATIONS, Operation, call, documented_path, snapshot
from tests.platform.retries import WITHOUT_KEY, check_retry


@pytest.mark.parametrize(
    "operation",
    [o for o in OPERATIONS if o.method == "POST" and documented_path(o) not in WITHOUT_KEY and o.status < 300],
    ids=lambda operation: operation.path,
)
def test_a_retry_gets_the_first_answer(
    api: Callable[..., APIClient], ids: dict[str, str], operation: Operation
) -> None:
    client = api("admin")
    check_retry(client, lambda: call(client, operation, ids), snapshot)


def test_two_tokens_are_not_made_by_one_key(api: Callable[..., APIClient]) -> None:
    """The secret is told again to the one who asked, to no other, and lies nowhere in clear."""
    first, second = api("admin"), api("admin")
    body = {"name": "ci", "role": "viewer"}
    key: dict[str, Any] = {"HTTP_IDEMPOTENCY_KEY": "k"}
    made = first.post("/api/v1/tokens", body, format="json", **key)
    assert (made.status_code, first.post("/api/v1/tokens", body, format="json", **key).json()) == (201, made.json())
    refused = second.post("/api/v1/tokens", body, format="json", **key)
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "idempotency_key_reused")
    assert ApiToken.objects.count() == 1
    stored: Any = StoredResponse.objects.get().body
    assert stored.keys() == {"sealed"}
    assert made.json()["secret"] not in stored["sealed"]


def test_a_sealed_answer_of_another_secret_is_refused(api: Callable[..., APIClient], settings: Any) -> None:
    client, body = api("admin"), {"name": "ci", "role": "viewer"}
    key: dict[str, Any] = {"HTTP_IDEMPOTENCY_KEY": "k"}
    assert client.post("/api/v1/tokens", body, format="json", **key).status_code == 201
    StoredResponse.objects.update(body={"sealed": "nonsense"})
    answer = client.post("/api/v1/tokens", body, format="json", **key)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "idempotency_unreadable")
    assert ApiToken.objects.count() == 1
