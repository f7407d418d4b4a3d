"""The check of answers that every test of the platform passes through."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from tests.platform.openapi import check_answer


def test_an_answer_of_another_shape_is_refused_with_each_place(api: Callable[..., APIClient]) -> None:
    answer: Any = api("viewer").get("/api/v1/teams/current")
    check_answer(answer)
    body = answer.json()
    body["name"], body["slug"] = 3, None
    changed = json.dumps(body)
    answer.json = lambda: json.loads(changed)
    with pytest.raises(AssertionError) as refused:
        check_answer(answer)
    first, *faults = str(refused.value).splitlines()
    assert first == "GET /api/v1/teams/current → 200 is not as the OpenAPI document says:"
    assert sorted(faults) == [
        '  $.name: 3 is not of type "string"',
        '  $.slug: null is not of type "string"',
    ]
