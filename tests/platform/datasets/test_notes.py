"""Row notes: facts beside the rows, in their order, replaced as a whole, gone with their version."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.datasets import services
from dressage.datasets.models import Dataset, DatasetVersion, RowNotes
from dressage.datasets.versions import notes
from dressage.datasets.versions.notes import NoteSource
from dressage.teams.models import AuditEntry, Team

ROWS = 4_500
SOURCE: NoteSource = {"kind": "difficulty", "id": "prof_1", "arguments": {"samples": 4}}


@pytest.fixture
def dataset(team: Team, actor: Actor) -> Dataset:
    body = b"".join(b'{"prompt": "p%d"}\n' % n for n in range(ROWS))
    made = services.create_dataset(team, actor, name="Sums", file=BytesIO(body), size=len(body))
    services.create_version(made, actor, file=BytesIO(body[:17]), size=17)
    return made


@pytest.fixture
def version(dataset: Dataset) -> DatasetVersion:
    return dataset.versions.get(number=1)


def rates(rows: int = ROWS) -> pa.Table:
    return pa.table({"pass_rate": pa.array([n / rows if n % 2 else None for n in range(rows)], pa.float64())})


def files(root: Path) -> list[str]:
    return sorted(path.name for path in root.rglob("notes/*"))


def test_notes_are_read_back_in_the_order_of_the_rows(version: DatasetVersion, actor: Actor) -> None:
    made = notes.write(version, "difficulty", rates(), by=actor, source=SOURCE)
    assert notes.read(version, "difficulty") == rates()
    assert [table.num_rows for table in notes.groups(made)] == [2_000, 2_000, 500]
    assert made.columns == [{"name": "pass_rate", "type": "number"}]
    found = notes.at(version, [4_499, 1, 2, 99_999])
    assert found == {
        4_499: {"difficulty": {"pass_rate": 4_499 / ROWS}},
        1: {"difficulty": {"pass_rate": 1 / ROWS}},
        2: {},
        99_999: {},
    }


def test_tables_of_any_size_are_taken(version: DatasetVersion, actor: Actor) -> None:
    whole = rates()
    parts = [whole.slice(0, 1), whole.slice(1, 3_333), whole.slice(3_334)]
    made = notes.write(version, "difficulty", iter(parts), by=actor, source=SOURCE)
    assert pa.concat_tables(notes.groups(made)).combine_chunks() == whole


def test_later_notes_replace_those_of_the_same_name(
    version: DatasetVersion, actor: Actor, dataset_root: Path, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        notes.write(version, "difficulty", rates(), by=actor, source=SOURCE)
        other = notes.write(version, "language", pa.table({"language": ["en"] * ROWS}), by=actor, source=SOURCE)
        last = notes.write(version, "difficulty", rates(), by=actor, source={**SOURCE, "id": "prof_2"})
    assert notes.of(version) == [last, other]
    assert files(dataset_root) == sorted([f"{last.id}.parquet", f"{other.id}.parquet"])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (rates(ROWS - 1), "the notes have 4499 rows, and sums@1 has 4500"),
        (rates(ROWS + 1), "the notes have 4501 rows, and sums@1 has 4500"),
        (pa.table({"x": pa.array([0] * ROWS, pa.int8())}), "the column 'x' of notes has the type int8"),
    ],
)
def test_notes_that_do_not_fit_leave_nothing(
    version: DatasetVersion, actor: Actor, dataset_root: Path, table: pa.Table, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        notes.write(version, "difficulty", table, by=actor, source=SOURCE)
    assert not RowNotes.objects.exists()
    assert files(dataset_root) == []


def test_notes_of_a_version_that_is_deleted_meanwhile_are_not_kept(
    version: DatasetVersion, actor: Actor, dataset_root: Path, api: Callable[..., APIClient]
) -> None:
    path = f"/api/v1/datasets/{version.dataset_id}/versions/1"
    assert api("editor").delete(path).status_code == 204
    with pytest.raises(DatasetVersion.DoesNotExist):
        notes.write(version, "difficulty", rates(), by=actor, source=SOURCE)
    assert files(dataset_root) == []


def test_notes_go_with_their_version(
    version: DatasetVersion,
    actor: Actor,
    dataset_root: Path,
    api: Callable[..., APIClient],
    django_capture_on_commit_callbacks: Any,
) -> None:
    notes.write(version, "difficulty", rates(), by=actor, source=SOURCE)
    with django_capture_on_commit_callbacks(execute=True):
        assert api("editor").delete(f"/api/v1/datasets/{version.dataset_id}/versions/1").status_code == 204
    assert not RowNotes.objects.exists()
    assert files(dataset_root) == []


def test_notes_are_listed_and_removed_by_rest(
    version: DatasetVersion,
    actor: Actor,
    dataset_root: Path,
    api: Callable[..., APIClient],
    other_team: Team,
    django_capture_on_commit_callbacks: Any,
) -> None:
    notes.write(version, "difficulty", rates(), by=actor, source=SOURCE)
    path = f"/api/v1/datasets/{version.dataset_id}/versions/1/notes"
    listed = api("viewer").get(path).json()["data"]
    assert [(one["name"], one["source"], one["columns"]) for one in listed] == [
        ("difficulty", SOURCE, [{"name": "pass_rate", "type": "number"}])
    ]
    assert api("viewer").delete(f"{path}/difficulty").status_code == 403
    stranger = api("editor", team=other_team)
    assert stranger.get(path).status_code == 404
    assert stranger.delete(f"{path}/difficulty").status_code == 404
    editor = api("editor")
    assert editor.delete(f"{path}/nothing").status_code == 404
    assert RowNotes.objects.count() == 1
    with django_capture_on_commit_callbacks(execute=True):
        assert editor.delete(f"{path}/difficulty").status_code == 204
    assert not RowNotes.objects.exists()
    assert files(dataset_root) == []
    assert AuditEntry.objects.get(action="dataset.notes.delete").before["notes"] == "difficulty"
