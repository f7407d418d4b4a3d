"""Rows that a model knows by heart: what counts as known, what does not, and models that only chat."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.datasets.models import DatasetVersion
from dressage.datasets.selectors import version_by_ref
from dressage.datasets.versions import notes
from dressage.lab.carry_out import carry_out
from dressage.lab.memorisation.halves import behind, cut, likeness, words_of
from dressage.lab.models import LabJob
from dressage.rewards.models import JudgeEndpoint
from dressage.teams.models import Team
from tests.platform.lab.test_served_models import cluster_acts, own
from tests.platform.serving.fixtures import ServingWorker
from tests.support.about import PLATFORM
from tests.support.judge_endpoint import JudgeServer, Reply

__all__ = ["cluster_acts", "own"]
FIND = {"kind": "memorisation", "endpoint": "model"}
KNOWN = "A farmer keeps 12 hens and each of them lays 5 eggs a week. How many eggs does the farmer collect in 3 weeks?"
NEW = "A diver fills 7 tanks with 18 litres of air each. How many litres are left once 2 of the tanks are empty again?"
SHORT = "What is 6 times 7?"
ROWS = [{"prompt": KNOWN, "answer": "180"}, {"prompt": NEW, "answer": "90"}, {"prompt": SHORT, "answer": "42"}]


def continued(text: str) -> Reply:
    return Reply(
        {
            "choices": [{"text": text, "finish_reason": "length"}],
            "usage": {"prompt_tokens": 20, "completion_tokens": 30},
        }
    )


def by_heart(body: dict[str, Any]) -> Reply:
    """A model that has read ``KNOWN`` with its solution, and guesses at all else."""
    shown = body["prompt"]
    if KNOWN.startswith(shown):
        return continued(f"{KNOWN[len(shown) :]}\n12 times 5 is 60, times 3 is 180. The answer is \\boxed{{180}}.")
    return continued(" litres does the diver use in a day? The answer is \\boxed{126}.")


def column(version: DatasetVersion, name: str) -> list[Any]:
    return notes.read(version, "memorisation").column(name).to_pylist()


@pytest.mark.expensive(2, "starts a job's process", about=PLATFORM)
def test_from_cost_to_a_version_without_known_rows(
    ask: Callable[..., Any],
    editor: APIClient,
    make: Callable[..., DatasetVersion],
    team: Team,
    model: JudgeServer,
    endpoint: JudgeEndpoint,
) -> None:
    version = make(ROWS)
    model.say = by_heart
    asking = ask(version, FIND, dry_run=True).json()["cost"]["asking"]
    assert (asking["rows"], asking["questions"]) == (3, 3)
    rest = sum(len(row["prompt"]) for row in ROWS) / 4 * 0.4
    assert (asking["prompt_tokens"], asking["completion_tokens"]) == (round(rest * 1.5), round(rest + 3 * 512))
    job = ask(version, FIND).json()["job"]["id"]
    carry_out(job)
    done = editor.get(f"/api/v1/lab-jobs/{job}").json()
    assert (done["state"], done["error"]) == ("done", "")
    assert column(version, "completed") == [True, False, None]
    assert column(version, "answered") == [True, False, None]
    assert column(version, "overlap")[0] == 1.0 and column(version, "overlap")[1] < 0.4
    assert column(version, "longest")[1] < 3
    report = done["report"]["memorisation"]
    counts = ("rows", "tried", "left_out", "completed", "with_answer", "answered")
    assert [report[name] for name in counts] == [3, 2, 1, 1, 2, 1]
    assert report["share"] == 0.5 and 0 < report["low"] < 0.5 < report["high"] < 1
    assert [one["completed"] for one in report["most"]] == [True, False]
    assert report["most"][0]["shown"] + report["most"][0]["expected"] == KNOWN
    told = ("rows", "answered", "failed", "questions", "prompt_tokens")
    assert [report["asked"][name] for name in told] == [2, 2, 0, 2, 40]
    assert len(model.requests) == 2
    for body in model.requests:
        assert body["temperature"] == 0.0 and body["model"] == "small-one" and "messages" not in body
    path = f"/api/v1/datasets/{version.dataset_id}/versions/1/derive"
    query = {"notes": [{"notes": "memorisation", "column": "completed", "equals": False}]}
    assert editor.post(path, {"operation": {"name": "filter", "query": query}}, format="json").status_code == 201
    second = version_by_ref(team, "sums@2")
    assert (second.rows, column(second, "completed")) == (1, [False])


@pytest.mark.expensive(2, "starts a job's process", about=PLATFORM)
def test_a_chat_is_tried_by_what_the_user_says_last(
    finish: Callable[..., LabJob], make: Callable[..., DatasetVersion], model: JudgeServer, endpoint: JudgeEndpoint
) -> None:
    chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": KNOWN}]
    version = make([{"messages": chat, "answer": "180"}])
    model.say = by_heart
    assert finish(version, FIND).state == "done"
    assert column(version, "completed") == [True]
    assert "Be brief" not in model.requests[0]["prompt"]


@pytest.mark.expensive(2, "starts a job's process", about=PLATFORM)
@pytest.mark.parametrize("rows", [ROWS[:2], ROWS, [SHORT, *ROWS[:2] * 30, SHORT]])
def test_an_endpoint_that_only_chats_is_told(
    finish: Callable[..., LabJob],
    make: Callable[..., DatasetVersion],
    model: JudgeServer,
    endpoint: JudgeEndpoint,
    rows: list[Any],
) -> None:
    version = make(rows)
    model.say = lambda body: Reply({"detail": "Not Found"}, 404)
    job = finish(version, FIND)
    assert job.state == "failed"
    assert "it has no /completions, which continues plain text" in job.error
    assert len(model.requests) < 60


@pytest.mark.expensive(3, "starts a job's process", about=PLATFORM)
@pytest.mark.parametrize(
    ("gold", "said", "answered"),
    [
        ("3", "", False),
        ("3", "\nThe answer is 3.", True),
        ("180", "\nThe answer is 180.", True),
        ("180", "\nThe answer is 90.", False),
    ],
)
def test_a_number_of_the_question_is_no_answer(
    finish: Callable[..., LabJob],
    make: Callable[..., DatasetVersion],
    model: JudgeServer,
    endpoint: JudgeEndpoint,
    gold: str,
    said: str,
    answered: bool,
) -> None:
    version = make([{"prompt": KNOWN, "answer": gold}])
    model.say = lambda body: continued(KNOWN[len(body["prompt"]) :] + said)
    assert finish(version, FIND).state == "done"
    assert (column(version, "completed"), column(version, "answered")) == ([True], [answered])


@pytest.mark.expensive(2, "starts a job's process", about=PLATFORM)
def test_a_rest_that_is_cut_off_has_no_answer(
    finish: Callable[..., LabJob], make: Callable[..., DatasetVersion], model: JudgeServer, endpoint: JudgeEndpoint
) -> None:
    version = make([{"prompt": f"{KNOWN} Count leap weeks twice.", "answer": "3"}])
    model.say = lambda body: continued(KNOWN[len(body["prompt"]) :])
    assert finish(version, FIND).state == "done"
    assert (column(version, "completed"), column(version, "answered")) == ([False], [False])


@pytest.mark.expensive(2, "starts a job's process", about=PLATFORM)
def test_rows_that_are_not_answered_are_no_zeros(
    finish: Callable[..., LabJob], make: Callable[..., DatasetVersion], model: JudgeServer, endpoint: JudgeEndpoint
) -> None:
    version = make(ROWS[:2])
    model.say = lambda body: by_heart(body) if KNOWN.startswith(body["prompt"]) else Reply({"choices": []})
    job = finish(version, FIND)
    assert job.state == "done"
    assert column(version, "completed") == [True, None] and column(version, "overlap") == [1.0, None]
    assert "is not a completion" in column(version, "error")[1]
    report = (job.report or {})["memorisation"]
    assert (report["tried"], report["share"], report["asked"]["failed"]) == (1, 1.0, 1)


@pytest.mark.expensive(2, "starts a job's process", about=PLATFORM)
def test_a_version_of_short_rows_tells_nothing(
    finish: Callable[..., LabJob], make: Callable[..., DatasetVersion], model: JudgeServer, endpoint: JudgeEndpoint
) -> None:
    version = make([SHORT])
    job = finish(version, FIND)
    assert (job.state, model.requests) == ("done", [])
    report = (job.report or {})["memorisation"]
    assert (report["tried"], report["left_out"], report["low"], report["high"]) == (0, 1, 0.0, 1.0)
    assert column(version, "completed") == [None]


@pytest.mark.expensive(2, "starts a job's process", about=PLATFORM)
def test_a_policy_of_the_cluster_is_tried(
    finish: Callable[..., LabJob], make: Callable[..., DatasetVersion], own: JudgeEndpoint, cluster_acts: Any
) -> None:
    version = make(ROWS[:2])

    def act(worker: ServingWorker) -> None:
        said = []
        for question in worker.exchange(room=8):
            assert question["temperature"] == 0.0 and "messages" not in question
            text = json.loads(by_heart({"prompt": question["prompt"]}).text)["choices"][0]["text"]
            said.append({"id": question["id"], "text": text, "completion_tokens": 9, "finish_reason": "length"})
        worker.exchange(answers=said)

    cluster_acts(act)
    assert finish(version, {**FIND, "endpoint": "own"}).state == "done"
    assert column(version, "completed") == [True, False]


@pytest.mark.parametrize("more", [{"shown": 0.1}, {"shown": 1}, {"least_rest": 2}, {"endpoint": "nobody"}, {"top": 1}])
def test_what_is_refused(
    ask: Callable[..., Any], make: Callable[..., DatasetVersion], endpoint: JudgeEndpoint, more: dict[str, Any]
) -> None:
    assert ask(make(ROWS), {**FIND, **more}).status_code == 422
    assert not LabJob.objects.exists()


@pytest.mark.parametrize(
    ("text", "shown", "rest"),
    [
        ("one two  three four five", "one two  three", " four five"),
        ("ein\tzwei\ndrei vier fünf", "ein\tzwei\ndrei", " vier fünf"),
        ("小明有三个苹果和两个梨", "小明有三个苹果", "和两个梨"),
        ("x", "x", ""),
        ("", "", ""),
        ("a b ", "a", " b"),
    ],
)
def test_prompts_are_cut_between_words(text: str, shown: str, rest: str) -> None:
    assert cut(text, 0.6)[:2] == (shown, rest)


REST = "How many eggs does the farmer collect in 3 weeks?"


@pytest.mark.parametrize(
    ("said", "completed", "overlap", "longest"),
    [
        (REST, True, 1.0, 10),
        (f"{REST.upper()} The answer is 180.", True, 1.0, 10),
        ("how many eggs, does the farmer collect in 3 weeks", True, 1.0, 10),
        ("How many eggs does the farmer collect in 4 weeks?", False, 0.9, 8),
        ("How many eggs does the farmer", False, 2 * 6 / 16, 6),
        ("many eggs does the farmer collect in 3 weeks now", False, 0.9, 0),
        ("weeks 3 in collect farmer the does eggs many how", False, 0.1, 0),
        ("Nothing of that kind was ever told to any person here", False, 0.0, 0),
        ("", False, 0.0, 0),
    ],
)
def test_continuations_are_held_against_the_rest(said: str, completed: bool, overlap: float, longest: int) -> None:
    found = likeness(REST, said)
    assert (found.completed, found.longest) == (completed, longest)
    assert found.overlap == pytest.approx(overlap)


def test_words_keep_operators_and_numbers_apart() -> None:
    assert words_of("Is x + 5 = 7, or x - 5?") == ["is", "x", "+", "5", "=", "7", "or", "x", "-", "5"]
    assert not likeness("what is x + 5 for x of 2", "what is x - 5 for x of 2").completed
    assert likeness("", "").completed is False


def test_accents_are_compared_however_they_are_written() -> None:
    composed, apart = "où était le café fermé", "ou\u0300 e\u0301tait le cafe\u0301 ferme\u0301"
    assert likeness(composed, apart) == (True, 1.0, 5) == likeness(apart, composed)
    assert not likeness(composed, "ou etait le cafe ferme").completed


@pytest.mark.parametrize(
    ("words", "left"), [(0, " In 3 weeks? It is 5."), (3, "? It is 5."), (5, " 5."), (6, "."), (9, ".")]
)
def test_what_comes_behind_words(words: int, left: str) -> None:
    assert behind(" In 3 weeks? It is 5.", words) == left
