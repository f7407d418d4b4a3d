"""The reward bench."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.rewards import grading
from dressage.rewards.models import Reward
from dressage.teams.models import Team
from tests.support.hostile_inputs import chain
from trainer_core.rewards.errors import GraderStopped
from trainer_core.rewards.isolated.places import Places
from trainer_core.rewards.isolated.process import GradeLimits

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
    correct = {"weight": 1.0, "reason": "The answer's last number is 24, the gold number 24."}
    explanation = {"correct": correct, "form": {"weight": 0.25, "reason": "The form is right."}}
    parts = {"correct": 1.0, "form": 1.0}
    assert results[0] == {"reward": 1.25, "parts": parts, "explanation": explanation, "error": None}
    assert Reward.objects.count() == 0


def test_other_tags(bench: Callable[..., Any]) -> None:
    definition = {"components": [{"name": "correct", "grader": {"type": "exact"}}]}
    samples = [sample("[a]12[b]24")]
    assert bench(definition=definition, samples=samples).json()["results"][0]["reward"] == 0.0
    tags = {"start": "[a]", "end": "[b]"}
    assert bench(definition=definition, samples=samples, thinking=tags).json()["results"][0]["reward"] == 1.0


def test_an_answer_begins_where_harmony_says(bench: Callable[..., Any]) -> None:
    definition = {"components": [{"name": "correct", "grader": {"type": "exact"}}]}
    text = "<|channel|>analysis<|message|>half<|end|><|start|>assistant<|channel|>final<|message|>24"
    tags = {"start": "<|channel|>analysis<|message|>", "end": "<|end|>"}
    final = {**tags, "answer_start": "<|channel|>final<|message|>"}
    rewards = [
        bench(definition=definition, samples=[sample(text)], thinking=one).json()["results"][0]["reward"]
        for one in (tags, final)
    ]
    assert rewards == [0.0, 1.0]


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


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        (GradeLimits(cpu_s=0.0, wall_s=30.0), "not scored: earlier samples took 0 s of processor time"),
        (GradeLimits(cpu_s=5.0, wall_s=0.0), "not scored: earlier samples took 0 s; the machine is busy, try again"),
    ],
)
def test_time_is_bounded_and_what_was_not_scored_says_so(
    bench: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, limits: GradeLimits, told: str
) -> None:
    monkeypatch.setattr(grading, "REQUEST", limits)
    results = bench(definition=MIXED, samples=[sample("24")] * 3).json()["results"]
    assert [(result["reward"], result["error"]) for result in results] == [(None, told)] * 3


def test_those_who_ask_too_much_are_told_when_to_come_again(
    bench: Callable[..., Any], team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    crowded = Places(1, most_waiting_per_key=0)
    monkeypatch.setattr(grading, "places", lambda: crowded)
    body = {"definition": MIXED, "samples": [sample("24")]}
    try:
        with crowded.place(str(team.pk)):
            own = bench(**body)
        full = Places(1, most_waiting=0)
        monkeypatch.setattr(grading, "places", lambda: full)
        with full.place("others"):
            everybody = bench(**body)
        assert bench(**body).json()["results"][0]["reward"] == 1.0
    finally:
        crowded.close()
        full.close()
    assert (own.status_code, own.headers["Retry-After"]) == (429, "1")
    assert own.json()["type"].endswith(":too_many_tries")
    assert own.json()["detail"].startswith("Your team tests too many rewards at the same time: ")
    assert (everybody.status_code, everybody.headers["Retry-After"]) == (503, "1")
    assert everybody.json()["type"].endswith(":graders_busy")


def test_a_chain_of_references_is_refused_with_its_place(bench: Callable[..., Any]) -> None:
    grader = {"type": "json_schema", "json_schema": chain(18)}
    definition = {"components": [{"name": "shape", "grader": grader}]}
    response = bench(definition=definition, samples=[sample("1")])
    told = "/$ref: '#/$defs/d0' leads to more than 10000 subschemas once all references are written out"
    assert response.status_code == 422
    assert response.json()["errors"] == [{"pointer": "/definition/components/0/grader/json_schema", "detail": told}]
    assert Reward.objects.count() == 0


def test_many_open_brackets_are_scored(bench: Callable[..., Any]) -> None:
    definition = {"components": [{"name": "tongue", "grader": {"type": "language", "language": "en"}}]}
    results = bench(definition=definition, samples=[sample("\\(" * 25_000)]).json()["results"]
    assert (results[0]["reward"], results[0]["error"]) == (1.0, None)


def test_graders_that_cannot_be_loaded_early_are_told_in_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def start() -> None:
        raise GraderStopped("no process can be had to grade in")

    monkeypatch.setattr(grading.places().template, "start", start)
    grading._load_graders()
    assert [record.message.partition(":")[0] for record in caplog.records] == ["the graders are not loaded"]


def test_the_early_start_and_requests_share_the_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = 3
    asked: list[None] = []
    made: list[Places] = []

    def make_once_all_have_asked(*args: Any, **options: Any) -> Places:
        while len(asked) < threads:
            time.sleep(0.001)  # waits: this is the poll of a condition
        made.append(Places(*args, **options))
        return made[-1]

    def ask(_: int) -> Places:
        asked.append(None)
        return grading.places()

    monkeypatch.setattr(grading, "Places", make_once_all_have_asked)
    grading._places.cache_clear()
    try:
        with ThreadPoolExecutor(threads) as pool:
            assert set(pool.map(ask, range(threads))) == set(made)
        assert len(made) == 1
    finally:
        grading._places.cache_clear()


def test_a_pattern_that_explodes_is_an_error_not_a_zero(bench: Callable[..., Any]) -> None:
    result = bench(definition=SLOW, samples=[sample("<think>x</think>" + "a" * 60 + "!")]).json()["results"][0]
    assert result["reward"] is None
    assert result["error"].startswith("form: answer_pattern took longer")
