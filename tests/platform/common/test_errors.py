"""Pointers of validation errors."""

from collections.abc import Callable

import pytest
from pydantic import ValidationError
from rest_framework import serializers
from rest_framework.test import APIClient

from dressage.common.api.errors import flatten
from dressage.common.api.problem_responses import as_problem, document
from dressage.common.api.problems import Problem, validated
from dressage.common.openapi.serializers import PydanticField
from trainer_core.rewards import RewardDefinition
from trainer_core.spec.faults import join


class DefinitionField(PydanticField, model=RewardDefinition):
    """As an app would define it."""


class Outer(serializers.Serializer):
    spec = DefinitionField()


def grader(**fields: object) -> dict[str, object]:
    return {"components": [{"name": "a", "grader": fields}]}


CASES = [
    ({}, ["/spec/components"]),
    ({"components": []}, ["/spec/components"]),
    (grader(type="numeric", tolerance="x"), ["/spec/components/0/grader/tolerance"]),
    (grader(type="numeric", surprise=1), ["/spec/components/0/grader/surprise"]),
    (grader(type="nope"), ["/spec/components/0/grader"]),
    (grader(type="format", answer_pattern="("), ["/spec/components/0/grader/answer_pattern"]),
    ({"components": [{"name": "A b"}]}, ["/spec/components/0/grader", "/spec/components/0/name"]),
    ({"components": [{"name": "a", "grader": {"type": "exact"}}] * 2}, ["/spec"]),
    ("text", ["/spec"]),
    (None, ["/spec"]),
    ([], ["/spec"]),
]


@pytest.mark.parametrize(("value", "pointers"), CASES)
def test_field_errors_point_into_the_body(value: object, pointers: list[str]) -> None:
    serializer = Outer(data={"spec": value})
    assert not serializer.is_valid()
    assert sorted(error["pointer"] for error in flatten(serializer.errors)) == pointers


@pytest.mark.parametrize(("value", "pointers"), CASES)
def test_validated_gives_the_same(value: object, pointers: list[str]) -> None:
    with pytest.raises(Problem) as caught:
        validated(RewardDefinition, value, "spec")
    assert caught.value.status == 422
    assert sorted(error["pointer"] for error in caught.value.errors) == pointers


def test_a_valid_value_becomes_the_model() -> None:
    serializer = Outer(data={"spec": grader(type="exact")})
    assert serializer.is_valid()
    assert isinstance(serializer.validated_data["spec"], RewardDefinition)


def test_sentences_lose_pydantics_prefix() -> None:
    with pytest.raises(Problem) as caught:
        validated(RewardDefinition, {"components": [{"name": "a", "grader": {"type": "exact"}}] * 2})
    assert caught.value.errors == [{"pointer": "", "detail": "the component name 'a' is used twice"}]


def test_a_bare_pydantic_error_is_a_problem_too() -> None:
    with pytest.raises(ValidationError) as caught:
        RewardDefinition.model_validate({})
    problem = as_problem(caught.value)
    assert problem is not None
    assert (problem.status, problem.errors) == (422, [{"pointer": "/components", "detail": "Field required"}])


def test_pointers_are_escaped() -> None:
    assert join("a/b", "~", 0) == "/a~1b/~0/0"


def test_openai_member() -> None:
    problem = Problem(422, "Invalid request", "Bad.", errors=[{"pointer": "/spec/data/0", "detail": "Bad."}])
    assert document(problem, "/x") == {
        "type": "urn:dressage:problem:unprocessable_entity",
        "title": "Invalid request",
        "status": 422,
        "detail": "Bad.",
        "instance": "/x",
        "errors": [{"pointer": "/spec/data/0", "detail": "Bad."}],
        "error": {
            "message": "Bad.",
            "type": "invalid_request_error",
            "param": "spec.data.0",
            "code": "unprocessable_entity",
        },
    }


def test_titles_and_details_are_whole(api: Callable[..., APIClient]) -> None:
    """REST framework's own texts have gaps, and Django's name its settings."""
    client = api("editor")
    answer = client.put("/api/v1/runs", {}, format="json")
    assert (answer.status_code, answer.json()["title"]) == (405, "Method not allowed")
    answer = client.post("/api/v1/runs", "x", content_type="text/plain")
    assert (answer.status_code, answer.json()["title"]) == (415, "Unsupported media type")
    answer = client.post("/api/v1/runs", '"' + "x" * (9 << 20) + '"', content_type="application/json")
    assert (answer.status_code, answer.json()["detail"]) == (413, "This body may have at most 8 MiB.")
