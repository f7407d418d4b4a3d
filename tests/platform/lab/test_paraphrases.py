"""Rows that say the same in other words: vectors, clusters, what is not joined, and models that make no vectors."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rest_framework.test import APIClient

from dressage.datasets.models import DatasetVersion
from dressage.datasets.selectors import version_by_ref
from dressage.datasets.versions import notes
from dressage.lab.asking.ask_rows import IN_A_ROW
from dressage.lab.carry_out import carry_out
from dressage.lab.models import LabJob
from dressage.lab.paraphrases import cost, pairs
from dressage.lab.paraphrases.pairs import background, join_alike
from dressage.lab.plan import UnfitError
from dressage.rewards.models import JudgeEndpoint
from dressage.serving.models import Serving
from dressage.teams.models import Team
from tests.platform.lab.test_served_models import cluster_acts, own
from tests.platform.serving.fixtures import ServingWorker
from tests.support.about import PLATFORM
from tests.support.judge_endpoint import JudgeServer, Reply
from trainer_core.link.serving import packed, unpacked

__all__ = ["cluster_acts", "own"]
FIND = {"kind": "paraphrases", "endpoint": "model"}
ROWS = [
    {"prompt": "Ann has 3 apples and buys 4. How many has she?", "answer": "7"},
    {"prompt": "After buying 4 apples on top of her three, how many does Ann own?", "answer": "7"},
    {"prompt": "Ann has 3 apples and buys 5. How many has she?", "answer": "8"},
    {"prompt": "Name the capital of France.", "answer": "Paris"},
    {"prompt": "Which city is France's capital?", "answer": "Lyon"},
    {"prompt": "name the capital of  France", "answer": "Paris"},
]


def topic(text: str) -> list[float]:
    """A vector that tells apples and France apart, and hardly anything else."""
    return [2.0, 0.01 * len(text), 0.0] if "apples" in text else [0.0, 0.01 * len(text), 3.0]


def embeddings(body: dict[str, Any]) -> Reply:
    data = [{"index": place, "embedding": topic(text)} for place, text in enumerate(body["input"])]
    return Reply({"data": data[::-1], "usage": {"prompt_tokens": 10 * len(data), "total_tokens": 0}})


def column(version: DatasetVersion, name: str) -> list[Any]:
    return notes.read(version, "paraphrases").column(name).to_pylist()


@pytest.mark.expensive(3, "starts a job's process", about=PLATFORM)
def test_from_cost_to_a_version_with_one_of_each(
    ask: Callable[..., Any],
    editor: APIClient,
    make: Callable[..., DatasetVersion],
    team: Team,
    model: JudgeServer,
    endpoint: JudgeEndpoint,
) -> None:
    version = make(ROWS)
    model.say = embeddings
    asking = ask(version, {**FIND, "threshold": 0.9}, dry_run=True).json()["cost"]["asking"]
    assert (asking["rows"], asking["questions"], asking["completion_tokens"]) == (6, 1, 0)
    assert asking["price"] == pytest.approx(asking["prompt_tokens"] * 2 / 1e6) and model.requests == []
    job = ask(version, {**FIND, "threshold": 0.9}).json()["job"]["id"]
    carry_out(job)
    done = editor.get(f"/api/v1/lab-jobs/{job}").json()
    assert (done["state"], done["error"]) == ("done", "")
    assert column(version, "cluster") == [1, 1, None, 2, 2, 2]
    assert column(version, "keep") == [True, False, True, True, False, False]
    report = done["report"]["paraphrases"]
    found = report["found"]
    assert (found["clusters"], found["kept"], found["conflicts"]) == (2, 3, 1)
    assert (found["equal_rows"], found["near_rows"]) == (1, 2)
    assert [one["answers_differ"] for one in found["largest"]] == [True, False]
    assert 0.9 < found["largest"][1]["similarity"] < 1
    assert (report["asked"]["answered"], report["asked"]["prompt_tokens"], report["asked"]["questions"]) == (6, 60, 1)
    assert report["background"] > 0.9, "the two topics alone are told apart"
    assert model.requests[0]["input"] == [row["prompt"] for row in ROWS]
    path = f"/api/v1/datasets/{version.dataset_id}/versions/1/derive"
    query = {"notes": [{"notes": "paraphrases", "column": "keep", "equals": True}]}
    assert editor.post(path, {"operation": {"name": "filter", "query": query}}, format="json").status_code == 201
    assert version_by_ref(team, "sums@2").rows == 3
    assert notes.of(version_by_ref(team, "sums@2")) == [], "a cluster is one of its version's rows"


@pytest.mark.expensive(2, "starts a job's process", about=PLATFORM)
def test_other_numbers_may_count_for_nothing(
    finish: Callable[..., LabJob], make: Callable[..., DatasetVersion], model: JudgeServer, endpoint: JudgeEndpoint
) -> None:
    version = make(ROWS)
    model.say = embeddings
    assert finish(version, {**FIND, "threshold": 0.9, "same_numbers": False}).state == "done"
    assert column(version, "cluster") == [1, 1, 1, 2, 2, 2]


@pytest.mark.expensive(4, "starts a job's process", about=PLATFORM)
def test_a_row_that_the_model_refuses_is_told(
    finish: Callable[..., LabJob], make: Callable[..., DatasetVersion], model: JudgeServer, endpoint: JudgeEndpoint
) -> None:
    version = make([*ROWS, {"prompt": "x" * 5000, "answer": "1"}, {"prompt": "y" * 400_001, "answer": "1"}])

    def say(body: dict[str, Any]) -> Reply:
        longest = max(map(len, body["input"]))
        return Reply({"error": {"message": "maximum context length"}}, 400) if longest > 4000 else embeddings(body)

    model.say = say
    job = finish(version, {**FIND, "threshold": 0.9})
    assert job.state == "done"
    assert column(version, "cluster") == [1, 1, None, 2, 2, 2, None, None]
    errors = column(version, "error")
    assert errors[:6] == [None] * 6
    assert "maximum context length" in errors[6] and "the row has 400,001 characters" in errors[7]
    assert (job.report or {})["paraphrases"]["asked"]["failed"] == 2


@pytest.mark.expensive(3, "starts a job's process", about=PLATFORM)
def test_an_endpoint_that_goes_away_is_not_asked_about_every_row(
    finish: Callable[..., LabJob], make: Callable[..., DatasetVersion], model: JudgeServer, endpoint: JudgeEndpoint
) -> None:
    version = make([{"prompt": f"{row} apples", "answer": "1"} for row in range(1100)])
    there = 64

    def say(body: dict[str, Any]) -> Reply:
        here = max(int(text.split()[0]) for text in body["input"]) < there
        return embeddings(body) if here else Reply({"error": {"message": "gone"}}, 403)

    model.say = say
    job = finish(version, {**FIND, "threshold": 0.9, "same_numbers": False})
    assert job.state == "done"
    errors = column(version, "error")
    assert errors[:there] == [None] * there and None not in errors[there:]
    refused = sum("answered 403" in error and "Not queried" not in error for error in errors[there:])
    unasked = sum(error.startswith(f"Not queried: {IN_A_ROW} rows in a row") for error in errors[there:])
    at_once = 16  # rows that other threads had asked about already
    assert IN_A_ROW <= refused <= IN_A_ROW + at_once and refused + unasked == 1100 - there
    assert len(model.requests) < 4 * IN_A_ROW
    assert (job.report or {})["paraphrases"]["asked"]["answered"] == there


@pytest.mark.expensive(2, "starts a job's process", about=PLATFORM)
@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (Reply({"error": "not found"}, 404), "it has no /embeddings, which computes vectors of texts"),
        (Reply({"error": "no key"}, 401), "answered 401: no key"),
        (Reply({"choices": []}), "has no embeddings"),
        (Reply("[1]"), "is not a JSON object"),
        (Reply({"data": []}), "did not return 1 vectors of one length"),
        (Reply({"data": [{"index": 0, "embedding": []}]}), "did not return 1 vectors of one length"),
        (Reply('{"data": [{"index": 0, "embedding": [NaN]}]}'), "did not return 1 vectors"),
    ],
)
def test_models_that_make_no_vectors(
    finish: Callable[..., LabJob],
    make: Callable[..., DatasetVersion],
    model: JudgeServer,
    endpoint: JudgeEndpoint,
    reply: Reply,
    told: str,
) -> None:
    version = make(ROWS)
    model.say = lambda body: reply
    job = finish(version, FIND)
    assert job.state == "failed"
    assert "returned no vector for the first rows" in job.error
    assert told in job.error
    assert notes.of(version) == []


@pytest.mark.expensive(6, "starts a job's process", about=PLATFORM)
def test_kept_vectors_are_not_asked_for_again(
    ask: Callable[..., Any], make: Callable[..., DatasetVersion], model: JudgeServer, endpoint: JudgeEndpoint
) -> None:
    version = make([f"Row {number}" for number in range(1030)])
    model.say = lambda body: Reply("{}", 500) if "Row 1029" in body["input"] else embeddings(body)
    job = ask(version, {**FIND, "threshold": 1, "same_numbers": True}).json()["job"]["id"]
    found = LabJob.objects.get()
    folder = found.work_folder
    folder.mkdir(parents=True)
    vectors = np.tile(np.array([1, 0, 0], np.float16), (1024, 1))
    told = {"errors": {}, "questions": 32, "tokens": 1024}
    with (folder / "vectors-00000000.npz").open("wb") as file:
        np.savez(file, vectors=vectors, told=np.frombuffer(json.dumps(told).encode(), np.uint8))
    carry_out(job)
    found.refresh_from_db()
    assert found.state == "done"
    seen = [body["input"] for body in model.requests]
    assert seen[0] == [f"Row {number}" for number in range(1024, 1030)]
    asked = (found.report or {})["paraphrases"]["asked"]
    assert (asked["prompt_tokens"], asked["failed"]) == (1024 + 50, 1)


@pytest.mark.expensive(3, "starts a job's process", about=PLATFORM)
def test_a_policy_of_the_cluster_makes_them(
    finish: Callable[..., LabJob], make: Callable[..., DatasetVersion], own: JudgeEndpoint, cluster_acts: Any
) -> None:
    version = make(ROWS)

    def act(worker: ServingWorker) -> None:
        assert list(Serving.objects.get().endpoints) == ["embedding"]
        said = []
        for question in worker.exchange(room=8):
            assert question["model"] == "embedding"
            vectors = np.array([topic(text) for text in question["texts"]], np.float16)
            said.append({"id": question["id"], "text": packed(vectors), "prompt_tokens": 30})
        worker.exchange(answers=said)

    cluster_acts(act)
    job = finish(version, {**FIND, "endpoint": "own", "threshold": 0.9})
    assert job.state == "done", job.error
    assert column(version, "cluster") == [1, 1, None, 2, 2, 2]
    assert (job.report or {})["paraphrases"]["asked"]["prompt_tokens"] == 30


def test_too_many_rows_are_refused(
    ask: Callable[..., Any],
    make: Callable[..., DatasetVersion],
    endpoint: JudgeEndpoint,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cost, "MAX_ROWS", 5)
    answer = ask(make(ROWS), FIND)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "too_many_rows")
    assert not LabJob.objects.exists()


def test_pairs_are_those_of_all_products() -> None:
    """Over several blocks, against every pair by itself."""
    draw = np.random.default_rng(1)
    rows = 1300
    vectors = draw.normal(size=(rows, 12))
    vectors[1100:1200] = vectors[100:200] + draw.normal(size=(100, 12)) * 0.05
    vectors[7] = 0
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0).astype(np.float16)
    products = vectors.astype(np.float32) @ vectors.astype(np.float32).T
    roots, similarity = join_alike(
        vectors, [""] * rows, np.arange(rows), 0.98, same_numbers=False, told=lambda done, of: None
    )
    joined = {(one, other) for one, other in zip(*np.nonzero(products >= 0.98 - 1e-3), strict=True) if one < other}
    assert len(joined) > 80
    expected = np.arange(rows)  # the smallest row that can be reached over pairs, found by telling it on and on
    for _ in range(rows):
        before = expected.copy()
        for one, other in joined:
            expected[one] = expected[other] = min(expected[one], expected[other])
        if (before == expected).all():
            break
    assert roots.tolist() == expected.tolist()
    assert roots[7] == 7
    assert all(0.978 < value <= 1 for value in similarity.values())


def test_a_model_that_keeps_nothing_apart_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "MOST_PAIRS", 40)
    same = np.tile(np.array([1, 0], np.float16), (10, 1))
    with pytest.raises(UnfitError, match=r"More than 40 pairs of rows have a similarity of 0\.9"):
        join_alike(same, [""] * 10, np.arange(10), 0.9, same_numbers=False, told=lambda done, of: None)
    assert background(same, np.arange(10)) == 1.0
    assert background(same[:1], np.arange(1)) == 0.0
    assert background(np.zeros((5, 2), np.float16), np.arange(5)) == 0.0


def test_vectors_travel_as_they_are() -> None:
    vectors = np.array([[0.5, -0.25, 1.0], [0.0, 2.0, -1.0]], np.float16)
    assert unpacked(packed(vectors), 2) == vectors.tolist()
