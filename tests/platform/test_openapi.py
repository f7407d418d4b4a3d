"""The check of answers that every test of the platform passes through."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from tests.platform.openapi import check_answer, document


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


def test_a_problem_that_the_document_refers_to_is_checked(api: Callable[..., APIClient]) -> None:
    assert document()["paths"]["/api/v1/runs/{run_id}"]["get"]["responses"]["404"].keys() == {"$ref"}
    answer: Any = api("viewer").get("/api/v1/runs/run_none")
    check_answer(answer)
    body = {**answer.json(), "errors": None}
    answer.json = lambda: body
    with pytest.raises(AssertionError, match=r"→ 404 is not as the OpenAPI document says:\n  \$.errors: null is not"):
        check_answer(answer)
