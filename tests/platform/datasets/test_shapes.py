"""Uploads of datasets as they are passed around: what is stored, what is told of it, and what is refused."""

import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.datasets.models import Dataset, DatasetVersion
from dressage.datasets.services import create_version_from_path
from dressage.teams.models import AuditEntry, Team
from tests.platform.datasets.test_upload import nothing_was_made, upload
from tests.support.about import PLATFORM
from trainer_core.datasets import SHAPES, recognise

DATA = Path(__file__).parents[2] / "data"
GSM8K = DATA / "references" / "gsm8k" / "test.jsonl"


@pytest.fixture
def editor(api: Callable[..., APIClient]) -> APIClient:
    return api("editor")


def test_gsm8k_as_it_is(editor: APIClient) -> None:
    content = GSM8K.read_bytes()
    response = upload(editor, content)
    assert response.status_code == 201
    made = response.json()
    assert made["latest_version"]["rows"] == 25
    assert [column["name"] for column in made["latest_version"]["columns"]] == [
        "messages",
        "answer",
        "solution",
        "question",
    ]
    assert made["latest_version"]["origin"] == {
        "file": {
            "name": "rows.jsonl",
            "format": "jsonl",
            "packed": False,
            "packing": None,
            "bytes": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
        },
        "shape": {
            "name": "gsm8k",
            "title": "GSM8K",
            "mapping": [
                {"column": "messages", "source": "`question` as the user's message"},
                {
                    "column": "answer",
                    "source": "the text after the `####` of `answer`, numbers without commas",
                },
                {"column": "solution", "source": "`answer` unchanged"},
            ],
            "grader": {"type": "math", "reference": "answer", "extraction": "boxed"},
            "system": "Please reason step by step, and put your final answer within \\boxed{}.",
        },
        "warnings": [],
    }
    page = editor.get(f"/api/v1/datasets/{made['id']}/versions/1/rows?limit=1").json()["data"][0]
    first = json.loads(content.splitlines()[0])
    assert page["row"] == recognise(first).convert(first)
    assert (page["prompt"], page["answer"]) == (first["question"], first["answer"].rpartition("#### ")[2])
    assert AuditEntry.objects.get().after["shape"] == "gsm8k"


@pytest.mark.expensive(2, "reads many or large files", about=PLATFORM)
@pytest.mark.parametrize(
    ("name", "shape", "rows"),
    [
        ("references/math500/test.jsonl", "math", 25),
        ("references/humaneval/HumanEval.jsonl", "humaneval", 25),
        ("references/mbpp/sanitized-mbpp.json", "mbpp", 25),
        ("shapes/ifeval.jsonl", "ifeval", 4),
        ("shapes/deepmath-roll.jsonl", "roll", 3),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_other_files_as_they_are(editor: APIClient, name: str, shape: str, rows: int, packed: bool) -> None:
    content = (DATA / name).read_bytes()
    version = upload(editor, gzip.compress(content) if packed else content).json()["latest_version"]
    origin = version["origin"]
    assert (version["rows"], origin["shape"]["name"], origin["file"]["packed"]) == (rows, shape, packed)


def test_only_columns_that_were_made_are_told(editor: APIClient) -> None:
    content = b'{"prompt": "1+1=", "ground_truth": 2}\n'
    mapping = upload(editor, content).json()["latest_version"]["origin"]["shape"]["mapping"]
    assert [mapped["column"] for mapped in mapping] == ["prompt", "answer"]


def test_rows_unlike_the_first_are_all_named(editor: APIClient, dataset_root: Path) -> None:
    lines = GSM8K.read_bytes().splitlines()
    lines[3] = b'{"question": "How many?", "answer": "Three."}'
    lines[7] = b'{"prompt": "1+1=", "answer": "2"}'
    response = upload(editor, b"\n".join(lines))
    assert response.status_code == 422
    assert response.json()["errors"] == [
        {"pointer": "/file/lines/4", "detail": "`answer` has no `####` followed by the final answer."},
        {"pointer": "/file/lines/8", "detail": "The row has no `question`, as the rows before it have."},
    ]
    assert nothing_was_made(dataset_root)


def test_a_faulty_first_row_does_not_hide_the_shape(editor: APIClient, dataset_root: Path) -> None:
    lines = GSM8K.read_bytes().splitlines()
    lines[0] = b'{"question": "", "answer": "#### 3"}'
    assert upload(editor, b"\n".join(lines)).json()["errors"] == [
        {"pointer": "/file/lines/1", "detail": "`question` is empty."}
    ]
    assert nothing_was_made(dataset_root)


def test_mapped_rows_are_checked_as_all_others(editor: APIClient, dataset_root: Path) -> None:
    content = b'{"prompt": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}'
    assert upload(editor, content).json()["errors"] == [
        {"pointer": "/file/lines/1", "detail": "`messages` must end with a message of the role user."}
    ]
    assert nothing_was_made(dataset_root)


def test_an_unknown_shape_is_explained_once(editor: APIClient, dataset_root: Path) -> None:
    response = upload(editor, b'{"query": "a", "checklist": []}\n' * 3)
    first, *others = response.json()["errors"]
    assert first["pointer"] == "/file/lines/1"
    assert "It has the columns `query`, `checklist`." in first["detail"]
    assert all(shape.title in first["detail"] for shape in SHAPES if shape.mapping)
    assert others == [
        {"pointer": f"/file/lines/{line}", "detail": "The row is of no known shape either."} for line in (2, 3)
    ]
    assert nothing_was_made(dataset_root)


def test_rows_of_an_array_are_named_by_their_place(editor: APIClient, dataset_root: Path) -> None:
    rows = json.loads((DATA / "references" / "mbpp" / "sanitized-mbpp.json").read_bytes())
    rows[4]["test_list"] = []
    document = upload(editor, json.dumps(rows).encode()).json()
    detail = "`test_list` must be a list of at least one string."
    assert document["errors"] == [{"pointer": "/file/rows/5", "detail": detail}]
    assert document["detail"] == f"Row 5: {detail} Nothing was stored."
    assert nothing_was_made(dataset_root)


def test_text_that_looks_like_control_tokens_is_taken_with_a_warning(editor: APIClient) -> None:
    rows = [{"prompt": f"{n}+1=", "tags": []} for n in range(30)]
    for n in range(5, 25):
        rows[n]["prompt"] = f"<|im_start|>system {n}"
    rows[2]["tags"] = [{"x": "<think>"}]  # type: ignore[list-item]
    version = upload(editor, "\n".join(map(json.dumps, rows)).encode()).json()["latest_version"]
    assert (version["rows"], version["origin"]["warnings"]) == (
        30,
        [
            {
                "code": "control_tokens",
                "detail": "21 rows hold text that looks like control tokens (`<|im_start|>`, `<think>`) in `tags`, "
                "`prompt`. It was kept as it is, and the policy reads it as text, never as the tokens themselves.",
                "rows": 21,
                "first_rows": [3, 6, 7, 8, 9, 10, 11, 12, 13, 14],
            }
        ],
    )


def test_a_file_of_this_machine_is_named(team: Team, actor: Actor) -> None:
    version = create_version_from_path(team, actor, GSM8K, slug="gsm8k")
    assert version.origin is not None
    assert version.origin["file"]["name"] == "test.jsonl"
    assert create_version_from_path(team, actor, GSM8K, slug="gsm8k") == version


def test_a_version_of_before_has_no_origin(editor: APIClient) -> None:
    made = upload(editor, b'{"prompt": "1+1="}').json()
    DatasetVersion.objects.update(origin=None)
    assert Dataset.objects.count() == 1
    assert editor.get(f"/api/v1/datasets/{made['id']}").json()["latest_version"]["origin"] is None
