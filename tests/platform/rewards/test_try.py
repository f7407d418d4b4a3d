"""The reward bench."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.rewards.models import Reward
from dressage.rewards.trial import Pasted, try_out
from trainer_core.rewards import RewardDefinition

MIXED = {
    "components": [
        {"name": "correct", "weight": 1.0, "grader": {"type": "numeric"}},
        {"name": "form", "weight": 0.25, "grader": {"type": "format"}},
    ]
}
LENGTH = {"components": [{"name": "short", "grader": {"type": "length_penalty", "free": 4, "full": 8}}]}
SLOW = {"components": [{"name": "form", "grader": {"type": "format", "answer_pattern": "(a|aa)+$"}}]}


@pytest.fixture
def bench(api: Callable[..., APIClient]) -> Callable[..., Any]:
    client = api("editor")
    return lambda **body: client.post("/api/v1/rewards/try", body, format="json")


def sample(text: str, answer: Any = "24", **more: Any) -> dict[str, Any]:
    return {"output_text": text, "item": {"prompt": "48/2=", "answer": answer}, **more}


def test_scores_with_their_parts(bench: Callable[..., Any]) -> None:
    samples = [sample("<think>half</think>24"), sample("24"), sample("<think>?</think>25"), sample("<think>never")]
    response = bench(definition=MIXED, samples=samples)
    assert response.status_code == 200
    results = response.json()["results"]
    assert [result["reward"] for result in results] == [1.25, 1.0, 0.25, 0.0]
    assert results[0] == {"reward": 1.25, "parts": {"correct": 1.0, "form": 1.0}, "error": None}
    assert Reward.objects.count() == 0


def test_other_tags(bench: Callable[..., Any]) -> None:
    definition = {"components": [{"name": "correct", "grader": {"type": "exact"}}]}
    samples = [sample("[a]12[b]24")]
    assert bench(definition=definition, samples=samples).json()["results"][0]["reward"] == 0.0
    tags = {"start": "[a]", "end": "[b]"}
    assert bench(definition=definition, samples=samples, thinking=tags).json()["results"][0]["reward"] == 1.0


def test_a_reward_that_cannot_be_computed_is_an_error(bench: Callable[..., Any]) -> None:
    results = bench(definition=MIXED, samples=[{"output_text": "24", "item": {}}, sample("24", "many")]).json()[
        "results"
    ]
    assert [result["reward"] for result in results] == [None, None]
    assert all(result["error"].startswith("correct: ") for result in results)


def test_stored_rewards(bench: Callable[..., Any], api: Callable[..., APIClient]) -> None:
    api("editor").post("/api/v1/rewards", {"name": "Sums", "definition": MIXED}, format="json")
    assert bench(ref="sums@1", samples=[sample("24")]).json()["results"][0]["reward"] == 1.0
    response = bench(ref="sums@2", samples=[sample("24")])
    assert (response.status_code, response.json()["errors"]) == (
        422,
        [{"pointer": "/ref", "detail": "There is no reward version sums@2 in this team."}],
    )


def test_length_needs_the_number_of_tokens(bench: Callable[..., Any]) -> None:
    inner = {"type": "composite", "parts": [{"grader": LENGTH["components"][0]["grader"]}]}
    for definition in (LENGTH, {"components": [{"name": "short", "grader": inner}]}):
        response = bench(definition=definition, samples=[sample("a", completion_tokens=3), sample("b")])
        assert response.status_code == 422
        assert [error["pointer"] for error in response.json()["errors"]] == ["/samples/1/completion_tokens"]
    results = bench(definition=LENGTH, samples=[sample("a", completion_tokens=n) for n in (3, 9)]).json()["results"]
    assert [result["reward"] for result in results] == [0.0, -1.0]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"samples": [sample("a")]}, ""),
        ({"definition": MIXED, "ref": "sums@1", "samples": [sample("a")]}, ""),
        ({"definition": MIXED}, "/samples"),
        ({"definition": MIXED, "samples": []}, "/samples"),
        ({"definition": MIXED, "samples": [sample("a")] * 51}, "/samples"),
        ({"definition": MIXED, "samples": [sample("a"), {"item": {}}]}, "/samples/1/output_text"),
        ({"definition": MIXED, "samples": [sample("a" * 100_001)]}, "/samples/0/output_text"),
        ({"definition": MIXED, "samples": [{"output_text": "a", "item": 3}]}, "/samples/0/item"),
        ({"definition": {}, "samples": [sample("a")]}, "/definition/components"),
    ],
)
def test_refused(bench: Callable[..., Any], body: dict[str, Any], pointer: str) -> None:
    response = bench(**body)
    assert response.status_code == 422
    assert [error["pointer"] for error in response.json()["errors"]] == [pointer]


def test_time_is_bounded_and_what_was_not_scored_says_so() -> None:
    samples = [Pasted("24", {"answer": "24"})] * 3
    results = try_out(
        RewardDefinition.model_validate(MIXED), samples, thinking_start="<t>", thinking_end="</t>", max_seconds=0
    )
    assert [(result.reward, result.error) for result in results] == [
        (None, "not scored: the samples before took 0 s")
    ] * 3


def test_a_pattern_that_explodes_is_an_error_not_a_zero(bench: Callable[..., Any]) -> None:
    result = bench(definition=SLOW, samples=[sample("<think>x</think>" + "a" * 60 + "!")]).json()["results"][0]
    assert result["reward"] is None
    assert result["error"].startswith("form: answer_pattern took longer")
