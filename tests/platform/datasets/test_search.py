"""Search in rows: what is found with an index and without is the same, pages hold all of it, and nothing is changed."""

import json
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pyarrow as pa
import pytest
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.datasets import services
from dressage.datasets.models import Dataset, DatasetVersion
from dressage.datasets.rows.query import RowQuery
from dressage.datasets.search import building, find, index
from dressage.datasets.versions import notes
from dressage.teams.models import Team

SOURCE: notes.NoteSource = {"kind": "difficulty", "id": "prof_1", "arguments": {}}
ROWS: list[dict[str, Any]] = [
    {"prompt": "How many apples does Ann have?", "answer": "3", "level": 1, "source": "school"},
    {"prompt": "How MANY snake_case names, Ünal?", "answer": "", "level": 2},
    {
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "多少个苹果？"}],
        "answer": "3",
    },
    {"prompt": 'many, how? "quoted" OR AND NOT * (x) : body tags t0', "level": 2, "tags": ["a", "b"]},
    {"prompt": "∑ = ½ ² ③ İstanbul straße ʼn ..", "answer": "x" * 1_900},
    {"prompt": "<|im_start|>one two  three", "big": 123456789012345678901234567890, "flag": True},
    {"prompt": "1 2 3 !!", "id_": "r=1", "answer": "3"},
] * 3
QUERIES: list[dict[str, Any]] = [
    {"text": "many how"},
    {"text": '"how many"'},
    {"text": '"many how"'},
    {"text": "snake_case"},
    {"text": "snake"},
    {"text": "ünal"},
    {"text": "苹果"},
    {"text": '"苹 果"'},
    {"text": '"果 苹"'},
    {"text": "OR AND NOT"},
    {"text": "body : t0"},
    {"text": "many* ^many (many)"},
    {"text": "straße"},
    {"text": "strasse"},
    {"text": "İstanbul"},
    {"text": "½ ² ③"},
    {"text": "im_start"},
    {"text": '"two three'},
    {"text": "'; DROP TABLE rows; --"},
    {"tags": ["level=2"]},
    {"tags": ["level=2", "tags=b"]},
    {"tags": ["flag=true"]},
    {"tags": ["id_=r=1"]},
    {"tags": ["level=22"]},
    {"answer": "3"},
    {"answer": ""},
    {"script": "Han"},
    {"script": "none"},
    {"min_length": 30, "max_length": 40},
    {"min_length": 2**31 - 1},
    {"text": "many", "tags": ["level=2"], "min_length": 34},
    {"text": "many", "answer": "nobody has it"},
]


@pytest.fixture
def dataset(team: Team, actor: Actor) -> Dataset:
    body = b"".join(json.dumps(row).encode() + b"\n" for row in ROWS)
    return services.create_dataset(team, actor, name="Sums", file=BytesIO(body), size=len(body))


@pytest.fixture
def viewer(api: Callable[..., APIClient]) -> APIClient:
    return api("viewer")


@pytest.fixture
def editor(api: Callable[..., APIClient]) -> APIClient:
    return api("editor")


@pytest.fixture
def version(dataset: Dataset) -> DatasetVersion:
    return dataset.versions.get(number=1)


def search(client: APIClient, version: DatasetVersion, query: dict[str, Any], **more: Any) -> Any:
    path = f"/api/v1/datasets/{version.dataset_id}/versions/{version.number}/rows/search"
    return client.post(path, {"query": query, **more}, format="json")


def all_pages(version: DatasetVersion, query: RowQuery, limit: int) -> list[int]:
    numbers: list[int] = []
    page = find.find(version, query, None, limit)
    while True:
        assert len(page["data"]) <= limit
        numbers += [row["index"] for row in page["data"]]
        if not page["has_more"]:
            return numbers
        page = find.find(version, query, page["next"], limit)


def test_an_index_finds_what_a_look_at_each_row_finds(version: DatasetVersion, monkeypatch: Any) -> None:
    queries = [RowQuery(**one) for one in QUERIES]
    queries.append(RowQuery(ids=[row["id"] for row in find.find(version, RowQuery(), None, 3)["data"]]))
    expected = [find.find(version, query, None, 200) for query in queries]
    index.build(version.path)
    monkeypatch.setattr(building, "WITHOUT_INDEX", 0)
    for query, before in zip(queries, expected, strict=True):
        after = find.find(version, query, None, 200)
        assert after["index"]["state"] == "ready"
        assert after | {"index": None} == before | {"index": None}, query
        assert all_pages(version, query, 2) == [row["index"] for row in before["data"]], query
    assert {len(one["data"]) for one in expected} >= {0, 3, 6, 9}


def test_pages_without_an_index_go_on_where_time_ended(version: DatasetVersion, monkeypatch: Any) -> None:
    query = RowQuery(text="many")
    whole = find.find(version, query, None, 50)
    assert (whole["total"], whole["total_is"], whole["has_more"]) == (9, "exact", False)
    monkeypatch.setattr(find, "_TIME_S", -1.0)
    first = find.find(version, query, None, 50)
    assert (len(first["data"]), first["total"], first["total_is"], first["next"]) == (1, 1, "at_least", 0)
    assert all_pages(version, query, 50) == [row["index"] for row in whole["data"]]
    monkeypatch.setattr(building, "WITHOUT_INDEX", 0)
    monkeypatch.setattr(index, "_MARK_EVERY", 2)
    index.build(version.path)
    assert all_pages(version, query, 50) == [row["index"] for row in whole["data"]]
    assert find.find(version, query, None, 50)["total_is"] == "at_least"


def test_an_empty_query_is_a_window_at_any_row(viewer: APIClient, version: DatasetVersion) -> None:
    page = search(viewer, version, {}, after=16, limit=2).json()
    assert [row["index"] for row in page["data"]] == [17, 18]
    assert page["data"][0]["text"].startswith("many, how?")
    assert (page["has_more"], page["next"], page["total"]) == (True, 18, None)
    last = search(viewer, version, {}, after=len(ROWS) - 1).json()
    assert (last["data"], last["has_more"], last["next"]) == ([], False, None)
    assert search(viewer, version, {}, after=10**11).json()["data"] == []


def test_notes_are_conditions_and_are_shown(viewer: APIClient, version: DatasetVersion, actor: Actor) -> None:
    count = len(ROWS)
    rates = pa.table(
        {
            "pass_rate": pa.array([None if n == 2 else n / count for n in range(count)], pa.float64()),
            "samples": pa.array(range(count), pa.int64()),
        }
    )
    notes.write(version, "difficulty", rates, by=actor, source=SOURCE)
    flags = pa.table({"suspect": pa.array([n in (1, 2) for n in range(count)]), "answer": pa.array(["x"] * count)})
    notes.write(version, "suspect", flags, by=actor, source=SOURCE)

    def found(*conditions: dict[str, Any], **query: Any) -> list[int]:
        answer = search(viewer, version, {"notes": list(conditions), **query})
        assert answer.status_code == 200, answer.json()
        assert answer.json()["total"] == len(answer.json()["data"])
        return [row["index"] for row in answer.json()["data"]]

    rate = {"notes": "difficulty", "column": "pass_rate"}
    assert found({**rate, "least": 1 / count, "most": 4 / count}) == [1, 3, 4]
    assert 2 not in found(rate) and len(found(rate)) == count - 1
    assert found({"notes": "suspect", "column": "suspect", "equals": True}) == [1, 2]
    assert found({"notes": "suspect", "column": "suspect", "equals": True}, {**rate, "least": 0}) == [1]
    assert found({"notes": "difficulty", "column": "samples", "equals": 3}) == [3]
    assert found({**rate, "most": 0.5}, text="many") == [0, 1, 3, 7, 8, 10]
    row = search(viewer, version, {"notes": [{**rate, "equals": 3 / count}]}).json()["data"][0]
    assert row["notes"]["difficulty"] == {"pass_rate": 3 / count, "samples": 3}


@pytest.mark.parametrize(
    ("condition", "pointer"),
    [
        ({"notes": "difficulty", "column": "pass_rate"}, "/query/notes/0/notes"),
        ({"notes": "suspect", "column": "votes"}, "/query/notes/0/column"),
        ({"notes": "suspect", "column": "suspect", "least": 1}, "/query/notes/0/column"),
        ({"notes": "suspect", "column": "suspect", "equals": "yes"}, "/query/notes/0/equals"),
        ({"notes": "suspect", "column": "suspect", "equals": 1}, "/query/notes/0/equals"),
    ],
)
def test_conditions_on_notes_that_are_not_there_are_refused(
    viewer: APIClient, version: DatasetVersion, actor: Actor, condition: dict[str, Any], pointer: str
) -> None:
    notes.write(version, "suspect", pa.table({"suspect": [True] * len(ROWS)}), by=actor, source=SOURCE)
    answer = search(viewer, version, {"notes": [condition]})
    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


@pytest.mark.parametrize(
    "query",
    [
        {"text": ""},
        {"text": "?!"},
        {"text": "x" * 501},
        {"tags": ["level"]},
        {"tags": ["=2"]},
        {"script": "Klingon"},
        {"min_length": -1},
        {"ids": []},
        {"sql": "1=1"},
        {"notes": [{"notes": "difficulty", "column": "pass_rate", "least": "many"}]},
    ],
)
def test_queries_that_make_no_sense_are_refused(viewer: APIClient, version: DatasetVersion, query: Any) -> None:
    answer = search(viewer, version, query)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"].startswith("/query")


def test_one_row_is_told_exactly(viewer: APIClient, version: DatasetVersion) -> None:
    path = f"/api/v1/datasets/{version.dataset_id}/versions/1/rows"
    row = viewer.get(f"{path}/5").json()
    assert row["json"] == json.dumps(ROWS[5], ensure_ascii=False, separators=(",", ":"))
    assert (row["index"], row["control_tokens"], row["script"], row["notes"]) == (5, ["<|im_start|>"], "Latin", {})
    assert viewer.get(f"{path}/{len(ROWS)}").status_code == 404


def test_what_is_found_becomes_a_version_and_a_row_is_edited_exactly(
    editor: APIClient, version: DatasetVersion, actor: Actor
) -> None:
    notes.write(version, "n", pa.table({"v": pa.array(range(len(ROWS)), pa.int64())}), by=actor, source=SOURCE)
    path = f"/api/v1/datasets/{version.dataset_id}/versions/1/derive"
    query = {"text": "many", "notes": [{"notes": "n", "column": "v", "least": 8}]}
    made = editor.post(path, {"operation": {"name": "filter", "query": query}}, format="json").json()
    assert made["results"][0]["rows"] == search(editor, version, query).json()["total"] == 5
    row = editor.get(f"/api/v1/datasets/{version.dataset_id}/versions/1/rows/5").json()
    text = row["json"].replace("three", "four")
    edit = {"name": "edit", "changes": [{"op": "change", "id": row["id"], "text": text}]}
    made = editor.post(path, {"operation": edit}, format="json").json()
    number = made["results"][0]["number"]
    after = editor.get(f"/api/v1/datasets/{version.dataset_id}/versions/{number}/rows/5").json()
    assert (after["id"], after["json"]) == (row["id"], text)
    for faulty in ({"text": "{"}, {"text": text, "row": {"prompt": "x"}}, {}, {"text": "[1]"}):
        edit = {"name": "edit", "changes": [{"op": "change", "id": row["id"], **faulty}]}
        assert editor.post(path, {"operation": edit}, format="json").status_code == 422
    assert version.dataset.versions.count() == 3


def test_other_teams_and_deleted_versions(
    api: Callable[..., APIClient],
    other_team: Team,
    version: DatasetVersion,
    actor: Actor,
    django_capture_on_commit_callbacks: Any,
) -> None:
    viewer, editor, outsider = api("viewer"), api("editor"), api("admin", team=other_team)
    path = f"/api/v1/datasets/{version.dataset_id}/versions/1/rows"
    assert search(outsider, version, {}).status_code == 404
    assert outsider.get(f"{path}/0").status_code == 404
    index.build(version.path)
    assert index.place(version.path).exists()
    services.create_version(version.dataset, actor, file=BytesIO(b'{"prompt": "p"}\n'), size=16)
    with django_capture_on_commit_callbacks(execute=True):
        assert editor.delete(f"/api/v1/datasets/{version.dataset_id}/versions/1").status_code == 204
    assert list((version.path.parent / "index").iterdir()) == []
    assert search(viewer, version, {}).json()["error"]["code"] == "version_deleted"
    assert viewer.get(f"{path}/0").status_code == 404


def test_an_index_is_made_by_a_process_of_its_own(viewer: APIClient, version: DatasetVersion, monkeypatch: Any) -> None:
    monkeypatch.setattr(building, "WITHOUT_INDEX", 0)
    page = search(viewer, version, {"text": "many"}).json()
    assert (page["total"], page["index"]) == (9, {"state": "building", "percent": 0})
    index.place(version.path, "part").parent.mkdir(parents=True)
    index.place(version.path, "part").write_bytes(b"of one that was killed")
    assert building.make(version)
    assert not building.make(version)
    assert building.state(version) == {"state": "ready", "percent": 100}
    assert search(viewer, version, {"text": "many"}).json()["total"] == 9
    index.discard(version.path)
    assert list((version.path.parent / "index").iterdir()) == []
