"""Bodies that no operation takes, for the tests that walk all of them."""

import json
from typing import Any

from rest_framework.test import APIClient

NO_OBJECTS = (None, 3, "x", [])
"""JSON that is no object."""


def check_bodies(client: APIClient, method: str, path: str) -> None:
    """Send an operation what is no JSON object, with an Idempotency-Key and without: it is refused, or not looked at.

    Args:
        client: someone who may use it.
        method: of HTTP, in upper case.
        path: the address, with real ids.
    """
    for body in NO_OBJECTS:
        for headers in ({"If-Match": "1"}, {"If-Match": "1", "Idempotency-Key": f"bodies {body!r}"}):
            options: dict[str, Any] = {"content_type": "application/json", "headers": headers}
            answer = client.generic(method, path, json.dumps(body), **options)
            assert answer.status_code < 500, (method, path, body, answer.content)
