"""Search at its limits: deadlines, files that go or break meanwhile, and numbers that no column holds."""

import json
import os
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.datasets import services
from dressage.datasets.limits import ROWS_PER_GROUP
from dressage.datasets.models import DatasetVersion
from dressage.datasets.rows.query import RowQuery
from dressage.datasets.search import building, conditions, find, index, stored_rows
from dressage.datasets.versions import notes
from dressage.teams.models import Team
from tests.support.about import PLATFORM

SOURCE: notes.NoteSource = {"kind": "difficulty", "id": "prof_1", "arguments": {}}
ROWS = 2 * ROWS_PER_GROUP + 100
HARD = {"notes": "difficulty", "column": "pass_rate", "least": 0.5}


@pytest.fixture
def version(team: Team, actor: Actor) -> DatasetVersion:
    """Rows of three row groups; those of the second one and of few others have a pass rate."""
    body = b"".join(json.dumps({"prompt": f"the task of number {n}"}).encode() + b"\n" for n in range(ROWS))
    made = services.create_dataset(team, actor, name="Tasks", file=BytesIO(body), size=len(body))
    return made.versions.get(number=1)


@pytest.fixture
def viewer(api: Callable[..., APIClient]) -> APIClient:
    return api("viewer")


def write_rates(version: DatasetVersion, actor: Actor, known: dict[int, float]) -> None:
    rates = pa.array([known.get(number) for number in range(ROWS)], pa.float64())
    sizes = pa.array([2**60 + number for number in range(ROWS)], pa.int64())
    notes.write(version, "difficulty", pa.table({"pass_rate": rates, "size": sizes}), by=actor, source=SOURCE)


def search(client: APIClient, version: DatasetVersion, query: dict[str, Any], **more: Any) -> Any:
    path = f"/api/v1/datasets/{version.dataset_id}/versions/{version.number}/rows/search"
    return client.post(path, {"query": query, **more}, format="json")


def derive(client: APIClient, version: DatasetVersion, query: dict[str, Any]) -> Any:
    path = f"/api/v1/datasets/{version.dataset_id}/versions/{version.number}/derive"
    return client.post(path, {"operation": {"name": "filter", "query": query}, "dry_run": True}, format="json")


def test_a_look_at_rows_skips_what_notes_rule_out_and_ends_in_time(
    version: DatasetVersion, actor: Actor, monkeypatch: Any
) -> None:
    last = ROWS - 1
    write_rates(version, actor, {last: 0.9})
    query = RowQuery.model_validate({"text": "task", "notes": [HARD]})
    read: list[int] = []

    def groups(*arguments: Any) -> Any:
        for first, table in stored_rows.groups(*arguments):
            read.append(first)
            yield first, table

    monkeypatch.setattr(find, "groups", groups)
    page = find.find(version, query, None, 10)
    assert ([row["index"] for row in page["data"]], page["total"], page["total_is"]) == ([last], 1, "exact")
    assert read == [2 * ROWS_PER_GROUP]
    monkeypatch.setattr(find, "_TIME_S", -1.0)
    page = find.find(version, query, None, 10)
    assert (page["data"], page["has_more"], page["next"]) == ([], True, 2 * ROWS_PER_GROUP + 49)
    page = find.find(version, query, page["next"], 10)
    assert ([row["index"] for row in page["data"]], page["has_more"]) == ([last], False)
    nobody = RowQuery.model_validate({"text": "task", "notes": [HARD | {"least": 0.95}]})
    page = find.find(version, nobody, None, 10)
    assert (page["data"], page["has_more"], page["total"], page["total_is"]) == ([], False, 0, "exact")


@pytest.mark.expensive(4, "reads many or large files", about=PLATFORM)
@pytest.mark.parametrize("value", [2**53 + 1, -(2**60), 10**300], ids=["odd", "negative", "huge"])
def test_whole_numbers_that_no_float_holds_are_refused(
    viewer: APIClient, api: Callable[..., APIClient], version: DatasetVersion, actor: Actor, value: int
) -> None:
    write_rates(version, actor, {3: 1.0})
    query = {"notes": [{"notes": "difficulty", "column": "pass_rate", "equals": value}]}
    for answer, pointer in (
        (search(viewer, version, query), "/query/notes/0/equals"),
        (derive(api("editor"), version, query), "/operation/query/notes/0/equals"),
    ):
        assert answer.status_code == 422
        assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


def test_integers_beyond_2_53_are_compared_exactly(viewer: APIClient, version: DatasetVersion, actor: Actor) -> None:
    write_rates(version, actor, {3: 1.0})
    size = {"notes": "difficulty", "column": "size"}

    def total(**bounds: float) -> int:
        answer = search(viewer, version, {"notes": [size | bounds]})
        assert answer.status_code == 200, answer.json()
        return answer.json()["total"]

    assert total(least=3) == total(least=2.0**60) == total(least=-1e300) == total(most=1e300) == ROWS
    assert total(least=2.0**60 + 256) == ROWS - 256
    assert total(most=2.0**60) == total(equals=2**60) == 1
    assert total(least=1e300) == total(most=-1e300) == total(most=2.0**60 - 128) == 0
    assert search(viewer, version, {"notes": [size | {"equals": 2**63}]}).status_code == 422
    found = search(viewer, version, {"notes": [HARD | {"equals": 1}]}).json()
    assert [row["index"] for row in found["data"]] == [3]


def test_notes_that_are_replaced_while_they_are_read_are_read_again(
    viewer: APIClient,
    api: Callable[..., APIClient],
    version: DatasetVersion,
    actor: Actor,
    monkeypatch: Any,
    django_capture_on_commit_callbacks: Any,
) -> None:
    write_rates(version, actor, {3: 1.0})
    read, read_at = conditions.pq.read_table, notes._values_at

    def replace(known: dict[int, float]) -> None:
        with django_capture_on_commit_callbacks(execute=True):
            write_rates(version, actor, known)

    def read_late(path: Path, **arguments: Any) -> Any:
        monkeypatch.setattr(conditions.pq, "read_table", read)
        replace({7: 1.0, 8: 1.0})
        return read(path, **arguments)

    def at_late(found: Any, numbers: list[int]) -> Any:
        monkeypatch.setattr(notes, "_values_at", read_at)
        replace({7: 0.75})
        return read_at(found, numbers)

    for ask in (
        lambda: search(viewer, version, {"notes": [HARD]}).json()["total"],
        lambda: derive(api("editor"), version, {"notes": [HARD]}).json()["counts"]["after"],
    ):
        monkeypatch.setattr(conditions.pq, "read_table", read_late)
        assert ask() == 2
    monkeypatch.setattr(notes, "_values_at", at_late)
    found = search(viewer, version, {}, after=6, limit=1).json()["data"]
    assert [row["notes"]["difficulty"]["pass_rate"] for row in found] == [0.75]
    monkeypatch.setattr(notes, "_values_at", at_late)
    row = viewer.get(f"/api/v1/datasets/{version.dataset_id}/versions/1/rows/7").json()
    assert row["notes"]["difficulty"]["pass_rate"] == 0.75


def test_files_that_are_gone_are_told(
    viewer: APIClient, api: Callable[..., APIClient], version: DatasetVersion, actor: Actor
) -> None:
    write_rates(version, actor, {3: 1.0})
    notes.named(version, "difficulty").path.unlink()
    answers = {"/operation": derive(api("editor"), version, {"notes": [HARD]})}
    version.path.unlink()
    row = viewer.get(f"/api/v1/datasets/{version.dataset_id}/versions/1/rows/0")
    for pointer, answer in (*answers.items(), ("/number", search(viewer, version, {"text": "task"})), ("/number", row)):
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "missing_files")
        assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


def test_an_index_is_on_disk_before_it_counts_as_made(version: DatasetVersion, monkeypatch: Any) -> None:
    folder, synced, rename, fsync = index.place(version.path).parent, list[str](), Path.rename, os.fsync

    def told(descriptor: int) -> None:
        fsync(descriptor)
        synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))

    def renamed(file: Path, target: Path) -> Path:
        synced.append("renamed")
        return rename(file, target)

    monkeypatch.setattr(os, "fsync", told)
    monkeypatch.setattr(Path, "rename", renamed)
    index.build(version.path)
    files = {str(index.place(version.path, f"{name}.npy")) for name in ("length", "script", "answer", "id")}
    assert set(synced[:5]) == {str(index.place(version.path, "part")), *files}
    assert synced[5:] == ["renamed", str(folder)]


@pytest.mark.parametrize("file", ["text.sqlite", "length.npy"])
@pytest.mark.parametrize("left", ["nothing", "half", "zeros", "no file"])
def test_a_broken_index_is_made_again(
    viewer: APIClient, version: DatasetVersion, monkeypatch: Any, file: str, left: str
) -> None:
    monkeypatch.setattr(building, "WITHOUT_INDEX", 0)
    query = {"text": "number 1999", "min_length": 5}
    index.build(version.path)
    assert search(viewer, version, query).json()["index"]["state"] == "ready"
    broken = index.place(version.path, file)
    content = broken.read_bytes()
    if left == "no file":
        broken.unlink()
    else:
        broken.write_bytes({"nothing": b"", "half": content[: len(content) // 2], "zeros": bytes(len(content))}[left])
    page = search(viewer, version, query).json()
    assert ([row["index"] for row in page["data"]], page["index"]["state"]) == ([1999], "building")
    assert not index.place(version.path).exists()


def test_an_index_that_fails_is_tried_again_later(viewer: APIClient, version: DatasetVersion, monkeypatch: Any) -> None:
    monkeypatch.setattr(building, "WITHOUT_INDEX", 0)
    rows, failed = version.path.read_bytes(), index.place(version.path, "failed")
    version.path.write_bytes(b"these are no rows")
    assert not building.make(version)
    assert list(failed.parent.iterdir()) == [failed]
    assert "ArrowInvalid" in failed.read_text()
    version.path.write_bytes(rows)
    assert not building.make(version)
    page = search(viewer, version, {"text": "number 1999"}).json()
    assert (page["total"], page["index"]) == (1, {"state": "failed", "percent": 0})
    before = failed.stat().st_mtime - 601
    os.utime(failed, (before, before))
    assert search(viewer, version, {"text": "number 1999"}).json()["index"]["state"] == "building"
    assert building.make(version)
    assert not failed.exists()
    assert search(viewer, version, {"text": "number 1999"}).json()["index"]["state"] == "ready"


@pytest.mark.parametrize(
    "text", ['"number of"', "even odd", '"even odd"'], ids=["in no order", "in no row", "a phrase in no row"]
)
def test_words_that_meet_in_no_row_do_not_hold_an_answer(tmp_path: Path, text: str) -> None:
    path, query = tmp_path / "rows.parquet", RowQuery(text=text)
    rows = [json.dumps({"prompt": f"of number {n} {'odd' if n % 2 else 'even'}"}) for n in range(ROWS)]
    pq.write_table(pa.table({"row": rows, "answer": pa.nulls(ROWS, pa.string())}), path)
    index.build(path)
    with index.texts(path) as database:
        for start in (0, 1, 1_500, 3_999):
            found = list(index.stretches(database, index.match(query.phrases(), []), start, ROWS))
            assert [seen for _, seen in found] == [n for n in (1_000, 2_000, 3_000, 4_000, ROWS) if n > start]
            assert not any(len(numbers) for numbers, _ in found)


def test_an_answer_by_the_index_ends_in_time(version: DatasetVersion, monkeypatch: Any) -> None:
    monkeypatch.setattr(building, "WITHOUT_INDEX", 0)
    index.build(version.path)
    monkeypatch.setattr(find, "_TIME_S", -1.0)
    query = RowQuery(text='"of task"')
    page = find.find(version, query, None, 10)
    assert (page["data"], page["has_more"], page["next"]) == ([], True, 999)
    assert (page["total"], page["total_is"]) == (0, "at_least")
    pages = 1
    while page["has_more"]:
        page, pages = find.find(version, query, page["next"], 10), pages + 1
        assert page["data"] == []
    assert pages == 5
