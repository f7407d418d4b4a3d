"""Files of no known shape: what a preview tells of them, how a mapping reads them, and mappings that are kept."""

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.common.api.problems import Problem
from dressage.common.lengthy import FILES
from dressage.datasets.mapping import head, services
from dressage.datasets.models import Dataset, DatasetVersion, SavedMapping
from dressage.teams.models import AuditEntry, Team

CAPITALS = b"land,town,river\nFrance,Paris,Seine\nItaly,Rome,Tiber\nEgypt,Cairo,Nile\n"
MAPPING = {
    "prompt": {"kind": "columns", "template": "What is the capital of {land}?"},
    "answer": {"path": "town"},
    "left_out": ["river"],
}
QUIZ = [
    {"question": "What is two and two?", "choices": ["3", "4"], "answer": 1},
    {"question": "What is one and two?", "choices": ["3", "4"], "answer": 0},
]


@pytest.fixture
def editor(api: Callable[..., APIClient]) -> APIClient:
    return api("editor")


def send(client: APIClient, content: bytes, to: str = "/preview", name: str = "rows.csv", **fields: Any) -> Any:
    file = io.BytesIO(content)
    file.name = name
    made = {key: json.dumps(value) if isinstance(value, dict) else value for key, value in fields.items()}
    return client.post(f"/api/v1/datasets{to}", {"file": file, **made}, format="multipart")


def lines(*rows: Any) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def zstd(content: bytes) -> bytes:
    return bytes(pa.compress(content, "zstd", asbytes=True))


def keep(client: APIClient, **fields: Any) -> Any:
    body = {"name": "Capitals", "mapping": MAPPING, "columns": ["land", "town", "river"], **fields}
    return client.post("/api/v1/dataset-mappings", body, format="json")


def test_an_unknown_table_is_mapped_kept_and_known_the_next_time(editor: APIClient, dataset_root: Path) -> None:
    unknown = send(editor, CAPITALS).json()
    assert (unknown["format"], unknown["shape"], unknown["proposal"], unknown["by"]) == ("csv", None, None, None)
    assert [(one["name"], one["examples"]) for one in unknown["columns"]] == [
        ("land", ["France", "Italy", "Egypt"]),
        ("town", ["Paris", "Rome", "Cairo"]),
        ("river", ["Seine", "Tiber", "Nile"]),
    ]
    assert (unknown["rows"][0]["row"], unknown["rows"][0]["source"]["land"]) == (None, "France")
    tried = send(editor, CAPITALS, mapping=MAPPING).json()
    stored = {
        "messages": [{"role": "user", "content": "What is the capital of France?"}],
        "answer": "Paris",
        "land": "France",
        "town": "Paris",
    }
    assert (tried["by"], tried["faulty"], tried["rows"][0]["row"]) == ("given", 0, stored)
    assert not AuditEntry.objects.exists() and not dataset_root.exists()
    saved = keep(editor).json()
    again = send(editor, CAPITALS).json()
    assert (again["by"], again["mapping_id"], [one["name"] for one in again["saved"]]) == (
        "saved", saved["id"], ["Capitals"],
    )  # fmt: skip
    assert again["rows"] == tried["rows"]


def test_an_upload_is_read_by_its_mapping(editor: APIClient) -> None:
    saved = keep(editor).json()
    for fields in ({"mapping": json.dumps(MAPPING)}, {"mapping_id": saved["id"]}):
        file = io.BytesIO(CAPITALS)
        file.name = "rows.csv"
        form = {
            "file": file,
            "name": "Capitals",
            "slug": f"c{len(fields['mapping_id']) if 'mapping_id' in fields else 0}",
        }
        made = editor.post("/api/v1/datasets", {**form, **fields}, format="multipart")
        assert made.status_code == 201, made.content
        version = made.json()["latest_version"]
        origin = version["origin"]["shape"]
        assert (version["rows"], origin["name"], origin["document"]["answer"]["path"]) == (3, "mapping", "town")
        assert [column["name"] for column in version["columns"]] == ["messages", "answer", "land", "town"]
        file = io.BytesIO(CAPITALS)
        file.name = "rows.csv"
        more = editor.post(
            f"/api/v1/datasets/{made.json()['id']}/versions", {"file": file, **fields}, format="multipart"
        )
        assert (more.status_code, more.json()["number"]) == (201, 2)


def test_a_mapping_takes_the_place_of_a_known_shape(editor: APIClient) -> None:
    content = lines({"question": "1+1?", "answer": "2", "hint": "Add."})
    assert send(editor, content).json()["by"] == "shape"
    mapping = {
        "prompt": {"kind": "columns", "template": "{hint} {question}", "form": "text"},
        "answer": {"path": "answer"},
    }
    row = send(editor, content, mapping=mapping).json()["rows"][0]["row"]
    assert row == {"prompt": "Add. 1+1?", "answer": "2", "question": "1+1?", "hint": "Add."}


def test_a_proposal_reads_the_first_rows(editor: APIClient) -> None:
    found = send(editor, lines(*QUIZ)).json()
    assert (found["shape"], found["by"], found["faulty"]) == (None, "proposal", 0)
    assert found["rows"][0]["row"]["messages"][0]["content"] == "What is two and two?\n\nA. 3\nB. 4"
    assert [row["row"]["answer"] for row in found["rows"]] == ["B", "A"]


def test_rows_that_cannot_be_mapped_are_named_or_left_out(editor: APIClient) -> None:
    content = lines({"q": "One?", "a": 1}, {"q": "", "a": 2}, {"a": 3}, {"q": "Four?", "a": [[4]]})
    mapping = {"prompt": {"kind": "columns", "template": "{q}"}, "answer": {"path": "a"}}
    told = send(editor, content, mapping=mapping).json()
    assert (told["examined"], told["faulty"]) == (4, 3)
    assert told["faults"] == [
        {"number": 2, "detail": "The template gives an empty prompt: `q` is empty."},
        {"number": 3, "detail": "The row has no column `q`, which the mapping reads."},
        {
            "number": 4,
            "detail": "`a` is an array, and an answer is text or a number. Name one of its elements, such as `a[0]`.",
        },
    ]
    form = {"name": "Few", "mapping": json.dumps(mapping)}
    refused = editor.post("/api/v1/datasets", {**form, "file": io.BytesIO(content)}, format="multipart")
    assert [fault["pointer"] for fault in refused.json()["errors"]] == [
        "/file/lines/2",
        "/file/lines/3",
        "/file/lines/4",
    ]
    assert not Dataset.objects.exists()
    form["mapping"] = json.dumps({**mapping, "faulty_rows": "leave_out"})
    taken = editor.post("/api/v1/datasets", {**form, "file": io.BytesIO(content)}, format="multipart").json()
    [warning] = taken["latest_version"]["origin"]["warnings"]
    assert (taken["latest_version"]["rows"], warning["code"], warning["first_rows"]) == (1, "left_out", [2, 3, 4])
    none = {**form, "name": "None", "file": io.BytesIO(lines({"x": 1}))}
    assert editor.post("/api/v1/datasets", none, format="multipart").json()["errors"] == [
        {
            "pointer": "/file",
            "detail": "No row can be mapped. The first: The row has no column `q`, which the mapping reads.",
        }
    ]


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd])
@pytest.mark.parametrize("kind", ["jsonl", "json", "csv"])
def test_a_beginning_that_ends_anywhere(editor: APIClient, kind: str, pack: Callable[[bytes], bytes]) -> None:
    rows = [{"land": f"Land {n} of {n * 7919}", "town": f"Town {n * 104729}"} for n in range(12_000)]
    if kind == "csv":
        content = b"land,town\n" + b"".join(f"{row['land']},{row['town']}\n".encode() for row in rows)
    else:
        content = json.dumps(rows).encode() if kind == "json" else lines(*rows)
    packed = pack(content)
    mapping = {"prompt": {"kind": "columns", "template": "{land}"}, "answer": {"path": "town"}}
    for end in (len(packed) // 2, len(packed) // 2 + 7, len(packed) // 2 + 20):
        found = send(editor, packed[:end], whole="false", mapping=mapping)
        assert found.status_code == 200, found.content
        told = found.json()
        assert (told["format"], told["faulty"], told["whole"], told["examined"] > 100) == (kind, 0, False, True)


def test_parquet_needs_the_whole_file(editor: APIClient) -> None:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(QUIZ * 50), file)
    content = file.getvalue()
    cut = send(editor, content[:-9], whole="false")
    assert (cut.status_code, cut.json()["error"]["code"]) == (422, "whole_file_needed")
    assert [row["row"]["answer"] for row in send(editor, content).json()["rows"]][:2] == ["B", "A"]


def test_what_is_unpacked_to_disk_for_a_preview_has_a_place_and_a_limit(
    editor: APIClient, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, archive = io.BytesIO(), io.BytesIO()
    pq.write_table(pa.Table.from_pylist(QUIZ * 50), file)
    with zipfile.ZipFile(archive, "w") as members:
        members.writestr("sum/task.toml", "")
        members.writestr("sum/instruction.md", "Add two numbers.")
    packed = [pack(file.getvalue()) for pack in (gzip.compress, zstd)] + [gzip.compress(archive.getvalue())]
    told = [send(editor, content).json() for content in packed]
    assert [(one["format"], one["packing"], one["examined"], one["whole"]) for one in told] == [
        ("parquet", "gzip", 100, True),
        ("parquet", "zstd", 100, True),
        ("harbor", "gzip", 1, True),
    ]
    with FILES.place(team.id), FILES.place(team.id):
        refused = [send(editor, content) for content in packed]
        assert send(editor, file.getvalue()).status_code == 200
        assert send(editor, gzip.compress(CAPITALS)).status_code == 200
    assert [(one.status_code, one["Retry-After"]) for one in refused] == [(429, "10")] * 3
    with FILES.place("a"), FILES.place("a"), FILES.place("b"), FILES.place("b"):
        assert send(editor, packed[0]).status_code == 503
    monkeypatch.setattr(head, "MAX_COPY_BYTES", len(file.getvalue()))
    assert send(editor, packed[0]).status_code == 200
    monkeypatch.setattr(head, "MAX_COPY_BYTES", len(file.getvalue()) - 1)
    [fault] = send(editor, packed[1]).json()["errors"]
    assert fault["pointer"] == "/file" and fault["detail"].endswith("too many for a preview. Upload it without one.")
    broken = send(editor, packed[0][:-20])
    assert (broken.status_code, "cannot be unpacked" in broken.json()["detail"]) == (422, True)


def test_files_that_cannot_be_read_are_told_at_the_file(editor: APIClient) -> None:
    for content, words in (
        (b"", "no rows"),
        (b"%PDF-1.4", "a PDF document"),
        (b"\x1f\x8b" + b"x" * 90, "cannot be unpacked"),
    ):
        refused = send(editor, content)
        [fault] = refused.json()["errors"]
        assert (refused.status_code, fault["pointer"], words in fault["detail"]) == (422, "/file", True)


@pytest.mark.parametrize(
    ("mapping", "pointer", "words"),
    [
        ("{", "/mapping", "no JSON"),
        ("[]", "/mapping", "dictionary"),
        ('{"prompt": 1, "prompt": 2}', "/mapping", "twice"),
        ("x" * 70_000, "/mapping", "65536"),
        ({"prompt": {"kind": "columns", "template": "{" * 20_000}}, "/mapping/prompt/template", "names no column"),
        ({"prompt": {"kind": "columns", "template": "{a"}}, "/mapping/prompt/template", "not closed"),
        ({"prompt": {"kind": "columns", "template": "a"}}, "/mapping/prompt/template", "no column"),
        ({"prompt": {"kind": "columns", "template": "{a|b}"}}, "/mapping/prompt/template", "no format `b`"),
        ({"prompt": {"kind": "chat", "path": "a" + "[0]" * 20}}, "/mapping/prompt/path", "more than 16 steps"),
        ({**MAPPING, "answer": {"path": "a..b"}}, "/mapping/answer/path", "no name"),
        ({**MAPPING, "answer": {"path": "a", "rule": "choice_text"}}, "/mapping/answer", "the path of the options"),
        ({**MAPPING, "tags": {"answer": "a"}}, "/mapping", "cannot be called"),
        ({**MAPPING, "colour": 1}, "/mapping/colour", "no member"),
    ],
)
def test_mappings_that_say_nothing_sensible(editor: APIClient, mapping: Any, pointer: str, words: str) -> None:
    refused = send(editor, CAPITALS, mapping=mapping)
    [fault] = refused.json()["errors"]
    assert (refused.status_code, fault["pointer"]) == (422, pointer)
    assert words in fault["detail"].replace(",", "") or words in fault["detail"]


def test_hostile_columns_are_only_names(editor: APIClient) -> None:
    row = {"__class__": "One?", "a.b": {"c[0]": "two", "{x}": "three"}, "": "four", 'q"': "five"}
    template = '{__class__} {["a.b"]["c[0]"]} {["a.b"]["{x}"]} {[""]} {["q\\""]}'
    mapping = {"prompt": {"kind": "columns", "template": template}}
    found = send(editor, lines(row), mapping=mapping).json()
    assert found["rows"][0]["row"]["messages"][0]["content"] == "One? two three four five"
    for path in ("__class__.__mro__", '["a.b"].keys', "__class__[0]"):
        refused = send(editor, lines(row), mapping={"prompt": {"kind": "columns", "template": f"{{{path}}}"}}).json()
        assert refused["faulty"] == 1


def test_mappings_are_kept_renamed_and_forgotten(
    editor: APIClient, api: Callable[..., APIClient], other_team: Team
) -> None:
    saved = keep(editor).json()
    assert (saved["columns"], saved["mapping"]["answer"]["rule"]) == (["land", "river", "town"], "as_is")
    assert editor.get("/api/v1/dataset-mappings").json()["data"] == [saved]
    taken = keep(editor)
    assert (taken.status_code, taken.json()["errors"][0]["pointer"]) == (409, "/name")
    path = f"/api/v1/dataset-mappings/{saved['id']}"
    other = api("editor", team=other_team)
    assert [other.get(path).status_code, other.patch(path, {"name": "x"}, format="json").status_code] == [404, 404]
    assert other.delete(path).status_code == 404
    assert send(other, CAPITALS).json()["saved"] == []
    stolen = send(other, CAPITALS, mapping_id=saved["id"])
    assert (stolen.status_code, stolen.json()["errors"][0]["pointer"]) == (422, "/mapping_id")
    empty = send(editor, CAPITALS, mapping_id="")
    assert (empty.status_code, empty.json()["errors"][0]["pointer"]) == (422, "/mapping_id")
    both = send(editor, CAPITALS, mapping=MAPPING, mapping_id=saved["id"])
    assert (both.status_code, both.json()["errors"][0]["pointer"]) == (422, "/mapping_id")
    assert editor.patch(path, {"name": "Towns"}, format="json").json()["name"] == "Towns"
    assert editor.delete(path).status_code == 204
    assert not SavedMapping.objects.exists()
    assert [(entry.action, entry.target_id) for entry in AuditEntry.objects.order_by("created_at", "id")] == [
        (f"dataset_mapping.{what}", saved["id"]) for what in ("create", "update", "delete")
    ]
    assert not DatasetVersion.objects.exists()


def test_a_mapping_that_was_deleted_meanwhile_is_not_found(editor: APIClient, actor: Actor) -> None:
    saved = SavedMapping.objects.get(id=keep(editor).json()["id"])
    assert editor.delete(f"/api/v1/dataset-mappings/{saved.id}").status_code == 204
    entries = AuditEntry.objects.count()
    for write in (
        lambda: services.change_mapping(saved, actor, {"name": "Towns"}),
        lambda: services.delete_mapping(saved, actor),
    ):
        with pytest.raises(Problem) as refused:
            write()
        assert (refused.value.status, refused.value.code) == (404, "not_found")
    assert (SavedMapping.objects.count(), AuditEntry.objects.count()) == (0, entries)


def test_a_prompt_to_continue_keeps_its_white_space(editor: APIClient) -> None:
    signature = '    def area(self):\n        """The area."""\n'
    content = lines({"code": signature, "rule": " Write Python.\n"})
    text = {"prompt": {"kind": "columns", "template": "{code}", "form": "text"}}
    assert send(editor, content, mapping=text).json()["rows"][0]["row"]["prompt"] == signature
    chat = {"prompt": {"kind": "columns", "template": "{code}"}, "system": "{rule}"}
    assert send(editor, content, mapping=chat).json()["rows"][0]["row"]["messages"] == [
        {"role": "system", "content": "Write Python."},
        {"role": "user", "content": signature.strip()},
    ]


def test_a_team_keeps_so_many(editor: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "MAX_SAVED", 1)
    assert keep(editor).status_code == 201
    refused = keep(editor, name="More")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "too_many_mappings")
    assert SavedMapping.objects.count() == 1


def test_an_empty_part_of_a_form_is_refused(api: Callable[..., APIClient]) -> None:
    for name in ("mapping", "mapping_id"):
        file = SimpleUploadedFile("rows.jsonl", b'{"q": "1+1="}\n')
        response = api("editor").post("/api/v1/datasets/preview", {"file": file, name: ""}, format="multipart")
        assert response.status_code == 422, response.content
        assert [error["pointer"] for error in response.json()["errors"]] == [f"/{name}"]
