"""Uploading datasets: what is stored, and what is refused with which words."""

import hashlib
import json
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from rest_framework.test import APIClient

from dressage.datasets import services
from dressage.datasets.files import jsonl, reading
from dressage.datasets.models import Dataset, DatasetVersion
from dressage.datasets.selectors import version_by_ref
from dressage.teams.models import AuditEntry, Team

GOOD = b'{"prompt": "48/2=", "answer": "24", "level": 3}\n{"prompt": "1+1=", "answer": 2, "tags": ["easy"]}\n'


@pytest.fixture
def editor(api: Callable[..., APIClient]) -> APIClient:
    return api("editor")


def upload(client: APIClient, content: bytes, path: str = "/api/v1/datasets", **fields: str) -> Any:
    file = BytesIO(content)
    file.name = "rows.jsonl"
    form = {"name": "Sums", "file": file, **fields} if path.endswith("datasets") else {"file": file}
    return client.post(path, form, format="multipart")


def nothing_was_made(root: Path) -> bool:
    files = [path for path in root.rglob("*") if path.is_file()] if root.exists() else []
    return not (Dataset.objects.exists() or DatasetVersion.objects.exists() or AuditEntry.objects.exists() or files)


def test_a_good_file(editor: APIClient, dataset_root: Path, team: Team) -> None:
    response = upload(editor, GOOD, description="From GSM8K")
    assert response.status_code == 201
    document = response.json()
    version = document["latest_version"]
    assert document["versions"] == [version]
    assert (document["slug"], document["name"], document["description"]) == ("sums", "Sums", "From GSM8K")
    assert (version["number"], version["rows"], version["ref"]) == (1, 2, "sums@1")
    assert version["columns"] == [
        {"name": "prompt", "type": "string"},
        {"name": "answer", "type": "mixed"},
        {"name": "level", "type": "number"},
        {"name": "tags", "type": "array"},
    ]
    stored = version_by_ref(team, "sums@1").path
    content = stored.read_bytes()
    assert (version["bytes"], version["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
    table = pq.read_table(stored)
    assert [json.loads(text) for text in table["row"].to_pylist()] == [json.loads(line) for line in GOOD.splitlines()]
    assert (table["prompt"].to_pylist(), table["answer"].to_pylist()) == (["48/2=", "1+1="], ["24", "2"])
    assert [path for path in dataset_root.rglob("*") if path.is_file()] == [stored]
    assert editor.get(f"/api/v1/datasets/{document['id']}").json() == document
    assert editor.get("/api/v1/datasets").json()["data"] == [document]
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.target_id, entry.after["ref"]) == ("dataset.create", document["id"], "sums@1")


@pytest.mark.parametrize(
    ("line", "detail"),
    [
        (b"{", "The line is not valid JSON: Expecting property name enclosed in double quotes at column 2."),
        (b'{"prompt": "a" "b"}', "The line is not valid JSON: Expecting ',' delimiter at column 16."),
        (b'{"prompt": "a"} {}', "The line is not valid JSON: Extra data at column 17."),
        (b'{"prompt": "a", "x": Infinity}', "Infinity is not JSON, and no number can stand for it."),
        (b'{"prompt": "a", "x": 1e999}', "Numbers must be finite."),
        (b'{"prompt": "a", "prompt": "b"}', "The key 'prompt' appears twice."),
        (b'{"prompt": "\xff"}', "The line is not UTF-8: invalid start byte at byte 13."),
        (b'{"prompt": "\\ud800"}', "Text must not contain lone surrogates (half of an escaped emoji)."),
        (b'{"prompt": "a\\u0000"}', "Text must not contain NUL characters."),
        (b'{"prompt": "a", "x": ' + b"[" * 40 + b"]" * 40 + b"}", "JSON is nested deeper than 32 levels."),
        (b'{"prompt": "a", "x": ' + b"[" * 9999 + b"]" * 9999 + b"}", "JSON is nested deeper than 32 levels."),
        (b"[]", "A row must be a JSON object, not array."),
        (b'"text"', "A row must be a JSON object, not string."),
        (b"null", "A row must be a JSON object, not null."),
        (b'{"question": "a"}', "A row needs either `prompt` or `messages`, and this one has `question`."),
        (b'{"prompt": "a", "messages": []}', "A row needs either `prompt` or `messages`, not both."),
        (b'{"prompt": 3}', "`prompt` must be a string, not number."),
        (b'{"prompt": " \\n"}', "`prompt` is empty."),
        (
            b'{"prompt": "a", "answer": {"x": 1}}',
            "`answer` must be a string, a number, a boolean or a list of them, not object.",
        ),
        (b'{"messages": []}', "`messages` must be a list of at least one message."),
        (b'{"messages": ["a"]}', "Message 1 must be an object with `role` and `content`."),
        (b'{"messages": [{"role": "x"}]}', "Message 1: `role` must be one of system, user, assistant."),
        (b'{"messages": [{"role": "user"}]}', "Message 1: `content` must be a string."),
        (
            b'{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}',
            "`messages` must end with a message of the role user.",
        ),
        (b'{"prompt": "' + b"a" * (1 << 20) + b'"}', "The line is longer than 1,048,576 bytes."),
    ],
    ids=lambda value: value[:30].decode(errors="replace") if isinstance(value, bytes) else "",
)
def test_a_broken_line_17(editor: APIClient, dataset_root: Path, line: bytes, detail: str) -> None:
    lines = [b'{"prompt": "fine"}'] * 20
    lines[16] = line
    response = upload(editor, b"\n".join(lines))
    assert response.status_code == 422
    document = response.json()
    assert document["errors"] == [{"pointer": "/file/lines/17", "detail": detail}]
    assert document["detail"] == f"Line 17: {detail} Nothing was stored."
    assert document["error"]["code"] == "invalid_dataset"
    assert nothing_was_made(dataset_root)


def test_rows_of_our_own_shape_are_stored_as_they_come(editor: APIClient) -> None:
    origin = upload(editor, GOOD).json()["latest_version"]["origin"]
    assert origin == {
        "file": {
            "name": "rows.jsonl",
            "format": "jsonl",
            "packed": False,
            "packing": None,
            "bytes": len(GOOD),
            "sha256": hashlib.sha256(GOOD).hexdigest(),
        },
        "shape": {
            "name": "own",
            "title": "Dressage rows (TRL prompt-only)",
            "mapping": [],
            "grader": None,
            "system": None,
        },
        "warnings": [],
    }


def test_every_broken_line_is_named(editor: APIClient) -> None:
    errors = upload(editor, b'{"prompt": "a"}\nx\n\n{"prompt": "b"}\ny\n').json()["errors"]
    assert [error["pointer"] for error in errors] == ["/file/lines/2", "/file/lines/5"]


def test_a_refusal_lists_a_hundred_rows_and_reports_all(editor: APIClient, dataset_root: Path) -> None:
    document = upload(editor, b"x\n" * 5000).json()
    assert len(document["errors"]) == 100
    assert "(5,000 lines have errors.)" in document["detail"]
    assert document["errors"] == [
        {"pointer": one["place"], "detail": one["detail"]} for one in document["report"][:100]
    ]
    assert len(document["report"]) == 5000
    assert nothing_was_made(dataset_root)


@pytest.mark.parametrize("content", [b"", b"\n\n  \n", b"\xef\xbb\xbf"])
def test_a_file_without_rows(editor: APIClient, dataset_root: Path, content: bytes) -> None:
    response = upload(editor, content)
    assert (response.status_code, response.json()["errors"]) == (
        422,
        [{"pointer": "/file", "detail": "The file has no rows."}],
    )
    assert nothing_was_made(dataset_root)


def test_windows_files(editor: APIClient) -> None:
    response = upload(editor, b'\xef\xbb\xbf{"prompt": "a"}\r\n\r\n{"prompt": "b"}\r\n')
    assert response.json()["latest_version"]["rows"] == 2


@pytest.mark.parametrize(
    ("cap", "value", "status", "pointer"),
    [("MAX_ROWS", 1, 422, "/file/lines/2"), ("MAX_COLUMNS", 3, 422, "/file/lines/2")],
)
def test_caps(
    editor: APIClient,
    dataset_root: Path,
    monkeypatch: pytest.MonkeyPatch,
    cap: str,
    value: int,
    status: int,
    pointer: str,
) -> None:
    monkeypatch.setattr(reading, cap, value)
    response = upload(editor, GOOD)
    assert (response.status_code, response.json()["errors"][0]["pointer"]) == (status, pointer)
    assert nothing_was_made(dataset_root)


def test_too_large_a_file(editor: APIClient, dataset_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "MAX_FILE_BYTES", len(GOOD) - 1)
    response = upload(editor, GOOD)
    assert (response.status_code, response.json()["error"]["param"]) == (413, "file")
    assert nothing_was_made(dataset_root)


def test_memory_is_bounded_for_a_file_without_line_ends() -> None:
    class Endless:
        left = 300 << 20

        def readline(self, size: int) -> bytes:
            assert size <= (1 << 20) + 2
            self.left -= size
            return b"x" * size if self.left > 0 else b""

    assert list(jsonl.numbered_lines(Endless())) == [(1, None)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"name": ""}, "/name"),
        ({"name": "x" * 121}, "/name"),
        ({"slug": "Not a slug"}, "/slug"),
        ({"slug": "../etc"}, "/slug"),
        ({"name": "日本"}, "/slug"),
        ({"name": "a\0b"}, "/name"),
        ({"description": "x" * 2001}, "/description"),
    ],
)
def test_bad_fields(editor: APIClient, dataset_root: Path, fields: dict[str, str], pointer: str) -> None:
    response = upload(editor, GOOD, **fields)
    assert (response.status_code, response.json()["errors"][0]["pointer"]) == (422, pointer)
    assert nothing_was_made(dataset_root)


def test_the_file_is_missing(editor: APIClient) -> None:
    response = editor.post("/api/v1/datasets", {"name": "Sums"}, format="multipart")
    assert (response.status_code, response.json()["errors"][0]["pointer"]) == (422, "/file")


def test_json_is_not_an_upload(editor: APIClient) -> None:
    response = editor.post("/api/v1/datasets", {"name": "Sums"}, format="json")
    assert (response.status_code, response.json()["error"]["code"]) == (415, "unsupported_media_type")


def test_a_taken_slug(editor: APIClient) -> None:
    upload(editor, GOOD)
    for fields in ({}, {"name": "Other", "slug": "sums"}):
        response = upload(editor, GOOD, **fields)
        assert (response.status_code, response.json()["error"]["code"]) == (409, "slug_taken")
    assert (Dataset.objects.count(), DatasetVersion.objects.count()) == (1, 1)


def test_slugs_of_teams_are_apart(editor: APIClient, api: Callable[..., APIClient], other_team: Team) -> None:
    assert upload(editor, GOOD).status_code == 201
    assert upload(api("editor", team=other_team), GOOD).status_code == 201


def test_a_failing_database_leaves_no_file_named(
    editor: APIClient, dataset_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(services, "record_audit", die)
    with pytest.raises(KeyboardInterrupt):
        upload(editor, GOOD)
    assert not Dataset.objects.exists()
    assert not list(dataset_root.glob("*.tmp"))


def test_a_full_disk_leaves_nothing(editor: APIClient, dataset_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object, **kwargs: object) -> Iterator[Any]:
        raise OSError(28, "No space left on device")
        yield

    monkeypatch.setattr("dressage.datasets.versions.storage._batches", full)
    response = upload(editor, GOOD)
    assert (response.status_code, response.json()["error"]["code"]) == (507, "disk_full")
    assert nothing_was_made(dataset_root)
