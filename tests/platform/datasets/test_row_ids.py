"""Each row of a version has an id of its own: its own where it brings one, else one that follows from its content."""

import hashlib
from collections.abc import Callable, Iterable
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.datasets import services
from dressage.datasets.models import DatasetVersion
from dressage.datasets.rows.row import Row
from dressage.datasets.versions import storage
from dressage.teams.models import Team


def rows(*data: dict[str, Any]) -> Iterable[Row]:
    return (Row({"prompt": "p", **one}, "p", None) for one in data)


def ids_in(path: Path) -> list[str]:
    return pq.read_table(path, columns=["id"]).column("id").to_pylist()


def content(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def test_ids_follow_from_canonical_content() -> None:
    path = storage.write(rows({"b": 1, "a": "é"}, {"a": "é", "b": 1}, {"b": 2}, {"b": 1, "a": "é"}))
    equal = content('{"a":"é","b":1,"prompt":"p"}')
    assert ids_in(path) == [equal, f"{equal}-2", content('{"b":2,"prompt":"p"}'), f"{equal}-3"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ([{"id": "a/1"}, {"id": "b"}], ["a/1", "b"]),
        ([{"task_id": 11}, {"task_id": 2**60}], ["11", str(2**60)]),
        ([{"id": None, "task_id": "x"}, {"task_id": "y"}], ["x", "y"]),
    ],
)
def test_ids_of_their_own(data: list[dict[str, Any]], expected: list[str]) -> None:
    assert ids_in(storage.write(rows(*data))) == expected


@pytest.mark.parametrize("second", ["a", "x" * 81, "two words", "", None, True, 1.5, ["a"], "ä"])
def test_ids_that_do_not_serve_all_rows_are_left_alone(second: Any) -> None:
    path = storage.write(rows({"id": "a"}, {"id": second, "n": 1}, {"id": "a", "n": 2}))
    first = content('{"id":"a","prompt":"p"}')
    assert ids_in(path)[0] == first
    assert [len(one) for one in ids_in(path)] == [16, 16, 16]
    assert [path] == list(path.parent.iterdir())


def test_equal_rows_over_the_seams_of_groups() -> None:
    path = storage.write(rows(*({"n": n % 1500} for n in range(4500))))
    found = ids_in(path)
    assert len(set(found)) == 4500
    assert found[1500:3000] == [f"{one}-2" for one in found[:1500]]
    assert found[3000:] == [f"{one}-3" for one in found[:1500]]
    groups = pq.ParquetFile(path).metadata
    assert [groups.row_group(n).num_rows for n in range(groups.num_row_groups)] == [2000, 2000, 500]


def without_ids(path: Path) -> Path:
    """The file as a release before wrote it."""
    table = pq.read_table(path, columns=["row", "prompt", "answer"])
    old = path.with_name("old.parquet")
    pq.write_table(table, old, row_group_size=2000)
    return old


def test_files_of_before_get_the_same_ids() -> None:
    new = storage.write(rows(*({"n": n % 1500} for n in range(3000))))
    old = without_ids(new)
    assert pa.concat_tables(storage.tables(old)).equals(pq.read_table(new))
    assert [row["id"] for row in storage.read_rows(old, 1999, 3)] == [one[:16] for one in ids_in(new)[1999:2002]]
    assert storage.same_rows(old, new)
    assert not storage.same_rows(old, storage.write(rows({"n": 1})))
    assert not storage.same_rows(old, storage.write(rows(*({"n": n % 1499} for n in range(3000)))))


def test_seeding_over_a_file_of_before_makes_no_version(team: Team, actor: Actor, tmp_path: Path) -> None:
    file = tmp_path / "train.jsonl"
    file.write_bytes(b'{"prompt": "a"}\n{"prompt": "b"}\n')
    version = services.create_version_from_path(team, actor, file, slug="demo")
    without_ids(version.path).rename(version.path)
    assert services.create_version_from_path(team, actor, file, slug="demo") == version
    assert DatasetVersion.objects.count() == 1


def test_the_api_tells_ids(team: Team, actor: Actor, api: Callable[..., APIClient]) -> None:
    body = b'{"prompt": "a", "id": "first"}\n{"prompt": "b", "id": "second"}\n'
    made = services.create_dataset(team, actor, name="Sums", file=BytesIO(body), size=len(body))
    page = api("viewer").get(f"/api/v1/datasets/{made.id}/versions/1/rows").json()
    assert [(row["index"], row["id"]) for row in page["data"]] == [(0, "first"), (1, "second")]
