"""Variations with whole numbers for answers, which a model has written: checked, verified, kept beside their rows."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from dressage.datasets.models import DatasetVersion
from dressage.datasets.selectors import version_by_ref
from dressage.lab.arguments import SynthesiseRows
from dressage.lab.models import LabJob
from dressage.lab.synthesis.words import REPHRASE, WHOLE_ANSWERS
from dressage.rewards.models import JudgeEndpoint
from dressage.teams.models import Team
from tests.platform.lab.stables import question_of, refusals, rows_of
from tests.support.about import PLATFORM
from tests.support.judge_endpoint import JudgeServer

WHOLE: dict[str, Any] = {
    "kind": "synthesis", "endpoint": "model", "answers": "whole", "variations": 1, "attempts": 2, "same_numbers": False,
}  # fmt: skip
QUESTION = "A coin is tossed three times. What is the probability that it shows heads exactly once?"
ASKED = f"{QUESTION} Write it as a fraction m/n in lowest terms and give m + n."


def is_writing(body: dict[str, Any]) -> bool:
    return "so that a rule can check their answers" in str(body["messages"][0]["content"])


def written(*pairs: tuple[str, Any]) -> str:
    return json.dumps({"variations": [{"question": question, "answer": answer} for question, answer in pairs]})


@pytest.mark.expensive(2, "starts a job's process", about=PLATFORM)
def test_a_question_is_asked_for_a_whole_number(
    finish: Callable[..., LabJob],
    make: Callable[..., DatasetVersion],
    team: Team,
    model: JudgeServer,
    endpoint: JudgeEndpoint,
) -> None:
    version = make(
        [
            {"prompt": QUESTION, "answer": "\\frac{3}{8}", "level": 2},
            {"prompt": "What is 6 times 7?", "answer": "$42$"},
            {"prompt": "Why?", "answer": None},
        ]
    )
    model.say = lambda body: written((ASKED, 11)) if is_writing(body) else "3 + 8 is \\boxed{11}"
    job = finish(version, WHOLE)
    assert job.state == "done", job.error
    assert (job.report or {})["synthesis"]["kept_ones"][0]["answer"] == "11"
    made = version_by_ref(team, "sums@2")
    (row_id, row) = rows_of(made)[3]
    assert (row["prompt"], row["answer"], row["level"], row["variation_pass_rate"]) == (ASKED, "11", 2, 1.0)
    assert row_id.startswith(row["variation_of"])
    assert rows_of(made)[:3] == rows_of(version)
    writing = [body for body in model.requests if is_writing(body)]
    assert len(writing) == 1, "whole numbers, and rows without an answer, are left alone"
    assert "\\frac{3}{8}" in question_of(writing[0]) and WHOLE_ANSWERS in question_of(writing[0])
    answering = [body for body in model.requests if not is_writing(body)]
    assert len(answering) == 2
    assert all("\\frac{3}{8}" not in question_of(body) and "11" not in question_of(body) for body in answering)


@pytest.mark.expensive(2, "starts a job's process", about=PLATFORM)
@pytest.mark.parametrize(
    ("text", "answer", "said", "reason"),
    [
        (ASKED, "3/8", "\\boxed{11}", "answer_not_whole"),
        (ASKED, "eleven", "\\boxed{11}", "answer_not_whole"),
        (ASKED, "11.5", "\\boxed{11}", "answer_not_whole"),
        (ASKED, "1" * 31, "\\boxed{11}", "answer_not_whole"),
        (f"{QUESTION} It is \\frac{{3}}{{8}}: give 3 + 8.", "11", "\\boxed{11}", "answer_told"),
        (f"{ASKED} The sum is 11.", "11", "\\boxed{11}", "answer_told"),
        (QUESTION, "11", "\\boxed{11}", "alike"),
        (ASKED, "12", "\\boxed{11}", "rarely_right"),
        (ASKED, "-11", "\\boxed{11}", "rarely_right"),
        ("m + n?", "11", "\\boxed{11}", None),
        (ASKED, "$1,011$", "\\boxed{1011}", None),
        (ASKED, "−11", "\\boxed{-11}", None),
    ],
)
def test_what_is_refused_and_what_is_not(
    finish: Callable[..., LabJob],
    make: Callable[..., DatasetVersion],
    model: JudgeServer,
    endpoint: JudgeEndpoint,
    text: str,
    answer: str,
    said: str,
    reason: str | None,
) -> None:
    version = make([{"prompt": QUESTION, "answer": "\\frac{3}{8}"}])
    model.say = lambda body: written((text, answer)) if is_writing(body) else said
    job = finish(version, WHOLE)
    assert job.state == "done", job.error
    assert [found for found, _ in refusals(job)] == ([] if reason is None else [reason])


def test_a_version_of_whole_numbers_has_nothing_to_change(
    ask: Callable[..., Any], make: Callable[..., DatasetVersion], model: JudgeServer, endpoint: JudgeEndpoint
) -> None:
    version = make([{"prompt": "What is 6 times 7?", "answer": "42"}])
    answer = ask(version, WHOLE)
    assert answer.status_code == 422
    assert "all already have whole-number answers" in answer.json()["errors"][0]["detail"]
    assert not LabJob.objects.exists() and model.requests == []


def test_the_instruction_is_that_of_the_answers() -> None:
    asked = {"kind": "synthesis", "endpoint": "model"}
    assert SynthesiseRows.model_validate(asked).instruction == REPHRASE
    assert SynthesiseRows.model_validate({**asked, "answers": "whole"}).instruction == WHOLE_ANSWERS
    assert SynthesiseRows.model_validate({**asked, "answers": "whole", "instruction": "Do."}).instruction == "Do."
