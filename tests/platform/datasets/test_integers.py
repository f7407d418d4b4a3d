"""Versions whose answers are whole numbers: which answers are, what becomes of fractions, and what is left out."""

import json
from collections.abc import Callable
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.datasets import services
from dressage.datasets.derivation.integers import number_in
from dressage.datasets.derivation.operations import ASK_FOR_SUM
from dressage.datasets.models import Dataset, DatasetVersion
from dressage.datasets.selectors import version_by_ref
from dressage.datasets.versions import storage
from dressage.teams.models import Team
from tests.platform.datasets.test_carrying import note, values
from tests.platform.datasets.test_derivation import derive

INTEGERS = {"name": "integers"}


@pytest.mark.parametrize(
    ("answer", "number"),
    [
        ("5", 5), (" 5\n", 5), ("-5", -5), ("−5", -5), ("+5", 5), ("- 5", -5), ("007", 7), ("0", 0), ("-0", 0),
        ("5.", 5), ("5.00", 5), ("1,234", 1234), ("1,234,567", 1_234_567), ("1{,}234", 1234), (r"1\,234", 1234),
        ("$5$", 5), ("$$5$$", 5), (r"\(5\)", 5), (r"\[5\]", 5), (r"\boxed{5}", 5), (r"$\boxed{-5}$", -5),
        (r"\boxed{$5$}", 5), ("$5", 5), (r"\$5", 5), (r"\$1,234", 1234), (r"45^\circ", 45), (r"$45^{\circ}$", 45),
        ("45°", 45), ("٤٢", 42), (str(2**70), 2**70),
        ("1/2", "1/2"), ("-1/2", "-1/2"), ("6 / 8", "3/4"), ("4/2", 2), (r"\frac{6}{8}", "3/4"), (r"\frac12", "1/2"),
        (r"\dfrac{3}{4}", "3/4"), (r"\tfrac{3}4", "3/4"), (r"-\frac{1}{2}", "-1/2"), (r"\frac{-1}{2}", "-1/2"),
        (r"\frac{ - 1 }{ 2 }", "-1/2"), (r"\boxed{\frac{1}{2}}", "1/2"), ("0/3", 0),
        (r"\[\boxed{\frac12}\]", "1/2"),
    ],
)  # fmt: skip
def test_answers_that_are_numbers(answer: str, number: int | str) -> None:
    assert number_in(answer) == Fraction(number)


@pytest.mark.parametrize(
    "answer",
    [
        None, "", " ", "five", "5 apples", "5 or 6", "5, 6", "(5, 6)", "1,23", "1,2345", "12,34,567", ",123", "5.5",
        "0.5", ".5", "1e3", "5%", r"5\%", "1/0", "1/2/3", "--5", r"-\frac{-1}{2}", r"\frac{1}{-2}", "3\\frac{1}{2}",
        "3 1/2", "2^3", r"\sqrt{4}", r"\pi", "x=5", "A", "$1$ and $2$", r"\boxed{1} \boxed{2}", "½", "²", "true",
        "[5, 6]", "5\u0000", "5_000", "0x10", "1.5/2", "9" * 201,
    ],
)  # fmt: skip
def test_answers_that_are_none(answer: str | None) -> None:
    assert number_in(answer) is None


def made(team: Team, actor: Actor, rows: list[dict[str, Any]]) -> Dataset:
    content = b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)
    return services.create_dataset(team, actor, name="Sums", file=BytesIO(content), size=len(content))


CHAT = [{"role": "system", "content": "Think."}, {"role": "user", "content": "What part is blue?"}]
ROWS = [
    {"id": "plain", "prompt": "1 + 1?", "answer": "2", "big": 2**70},
    {"id": "number", "prompt": "1 + 2?", "answer": 3},
    {"id": "delimited", "prompt": "How many?", "answer": "$1{,}234$", "big": 2**70, "solution": "1{,}234"},
    {"id": "half", "prompt": "Which part is red? ½", "answer": "2/4"},
    {"id": "chat", "messages": CHAT, "answer": r"\frac{-3}{4}"},
    {"id": "whole", "prompt": "How much?", "answer": 7.0},
    {"id": "decimal", "prompt": "How long?", "answer": 2.5},
    {"id": "formula", "prompt": "Solve it.", "answer": "x^2"},
    {"id": "truth", "prompt": "Is it?", "answer": True},
    {"id": "none", "prompt": "Say something."},
]


@pytest.fixture
def editor(api: Callable[..., APIClient]) -> APIClient:
    return api("editor")


@pytest.fixture
def dataset(team: Team, actor: Actor) -> Dataset:
    return made(team, actor, ROWS)


def rows_of(team: Team, ref: str) -> list[dict[str, Any]]:
    return [row["row"] for row in storage.read_rows(version_by_ref(team, ref).path, 0, 100)]


def test_rows_with_whole_answers(editor: APIClient, dataset: Dataset, team: Team) -> None:
    counts = {"before": 10, "after": 6, "added": 0, "removed": 4, "changed": 4}
    preview = derive(editor, dataset, INTEGERS, dry_run=True)
    assert (preview.status_code, preview.json()["counts"]) == (200, counts)
    assert DatasetVersion.objects.count() == 1
    response = derive(editor, dataset, INTEGERS, latest=1)
    assert (response.status_code, response.json()["counts"]) == (201, counts)
    asked = f"\n\n{ASK_FOR_SUM}"
    assert rows_of(team, "sums@2") == [
        ROWS[0],
        ROWS[1],
        {**ROWS[2], "answer": "1234"},
        {**ROWS[3], "prompt": f"Which part is red? ½{asked}", "answer": "3"},
        {**ROWS[4], "messages": [CHAT[0], {"role": "user", "content": f"What part is blue?{asked}"}], "answer": "1"},
        {**ROWS[5], "answer": 7},
    ]
    stored = list(storage.read_rows(version_by_ref(team, "sums@2").path, 0, 100))
    assert [(row["id"], row["answer"]) for row in stored] == [
        ("plain", "2"), ("number", "3"), ("delimited", "1234"), ("half", "3"), ("chat", "1"), ("whole", "7")
    ]  # fmt: skip
    assert [row["prompt"] for row in stored[3:5]] == [f"Which part is red? ½{asked}", f"What part is blue?{asked}"]
    document = editor.get(f"/api/v1/datasets/{dataset.id}/versions/2").json()
    assert document["operation"] == {
        "name": "integers",
        "arguments": {"fractions": "sum", "sentence": ASK_FOR_SUM},
        "counts": counts,
    }
    assert document["parent"]["ref"] == "sums@1"
    assert rows_of(team, "sums@1") == ROWS
    # made of what is whole already, nothing changes
    again = derive(editor, dataset, INTEGERS, number=2, dry_run=True).json()["counts"]
    assert (again["after"], again["removed"], again["changed"]) == (6, 0, 0)


def test_fractions_may_be_left_out_or_asked_for_in_other_words(editor: APIClient, dataset: Dataset, team: Team) -> None:
    made = derive(editor, dataset, {**INTEGERS, "fractions": "leave_out"}, into={"name": "Whole"})
    assert made.status_code == 201
    assert [row["id"] for row in rows_of(team, "whole@1")] == ["plain", "number", "delimited", "whole"]
    sentence = "Gib m + n an."
    assert derive(editor, dataset, {**INTEGERS, "sentence": sentence}).status_code == 201
    assert rows_of(team, "sums@2")[3]["prompt"] == f"Which part is red? ½\n\n{sentence}"


def test_notes_stay_with_rows_that_are_the_same(editor: APIClient, dataset: Dataset, team: Team, actor: Actor) -> None:
    note(dataset.versions.get(), actor, "difficulty", list(range(10)))
    assert derive(editor, dataset, INTEGERS).status_code == 201
    assert values(version_by_ref(team, "sums@2"), "difficulty") == [0, 1, None, None, None, None]


@pytest.mark.parametrize(
    ("more", "pointer"),
    [
        ({"fractions": "product"}, "/operation"),
        ({"sentence": ""}, "/operation"),
        ({"sentence": " \n"}, "/operation"),
        ({"sentence": "x" * 1001}, "/operation"),
        ({"decimals": "round"}, "/operation"),
    ],
)
def test_what_is_refused(editor: APIClient, dataset: Dataset, more: dict[str, Any], pointer: str) -> None:
    response = derive(editor, dataset, {**INTEGERS, **more})
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"].startswith(pointer)
    assert DatasetVersion.objects.count() == 1


def test_a_version_without_a_row_is_not_made(editor: APIClient, team: Team, actor: Actor, dataset_root: Path) -> None:
    dataset = made(team, actor, ROWS[6:])
    files = sorted(dataset_root.rglob("*"))
    response = derive(editor, dataset, INTEGERS)
    assert (response.status_code, response.json()["detail"]) == (422, "No row would be left. Nothing was made.")
    assert (DatasetVersion.objects.count(), sorted(dataset_root.rglob("*"))) == (1, files)


def test_viewers_make_none(api: Callable[..., APIClient], dataset: Dataset) -> None:
    assert derive(api("viewer"), dataset, INTEGERS).status_code == 403
    assert DatasetVersion.objects.count() == 1
