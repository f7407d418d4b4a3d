"""Differences of two versions: what was added, removed and changed, page by page."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.datasets import services
from dressage.datasets.models import Dataset
from dressage.datasets.rows.row import Row
from dressage.datasets.versions import diff, storage
from dressage.teams.models import Team


def body(*rows: str) -> bytes:
    return "\n".join(rows).encode()


OLD = body('{"id": "a", "prompt": "p", "n": 1}', '{"id": "b", "prompt": "q"}', '{"id": "c", "prompt": "r", "n": 1}')
NEW = body('{"id": "c", "prompt": "r", "n": 1.0, "m": [1]}', '{"id": "d", "prompt": "s"}', '{"id": "b", "prompt": "q"}')
CHANGED = {
    "change": "changed",
    "id": "c",
    "before_index": 2,
    "after_index": 0,
    "before": {"id": "c", "prompt": "r", "n": 1},
    "after": {"id": "c", "prompt": "r", "n": 1.0, "m": [1]},
    "fields": [
        {"name": "n", "before": 1, "after": 1.0, "change": "changed"},
        {"name": "m", "before": None, "after": [1], "change": "added"},
    ],
}


@pytest.fixture
def dataset(team: Team, actor: Actor) -> Dataset:
    made = services.create_dataset(team, actor, name="Sums", file=BytesIO(OLD), size=len(OLD))
    services.create_version(made, actor, file=BytesIO(NEW), size=len(NEW))
    return made


def test_each_kind(api: Callable[..., APIClient], dataset: Dataset) -> None:
    viewer: Any = api("viewer")
    path = f"/api/v1/datasets/{dataset.id}/versions/2/diff"
    page = viewer.get(path, {"against": 1}).json()
    assert page["counts"] == {"added": 1, "removed": 1, "changed": 1, "equal": 1}
    assert [(row["change"], row["id"]) for row in page["data"]] == [("added", "d"), ("removed", "a"), ("changed", "c")]
    assert page["data"][2] == CHANGED
    assert (page["data"][0]["before"], page["data"][1]["after"], page["has_more"]) == (None, None, False)
    assert viewer.get(path, {"against": 1, "kind": "changed"}).json()["data"] == [CHANGED]
    first = viewer.get(path, {"against": 1, "limit": 2}).json()
    assert (len(first["data"]), first["has_more"], first["next"]) == (2, True, 1)
    rest = viewer.get(path, {"against": 1, "limit": 2, "after": int(first["next"])}).json()
    assert (rest["data"], rest["has_more"], rest["next"]) == ([CHANGED], False, None)
    assert viewer.get(path).json() == page
    assert viewer.get(f"/api/v1/datasets/{dataset.id}/versions/1/diff").status_code == 422
    back = viewer.get(f"/api/v1/datasets/{dataset.id}/versions/1/diff", {"against": 2, "kind": "removed"}).json()
    assert [row["id"] for row in back["data"]] == ["d"]


@pytest.mark.parametrize(("query", "status"), [({"against": "9"}, 404), ({"against": "1", "kind": "x"}, 422)])
def test_what_cannot_be_compared(
    api: Callable[..., APIClient], dataset: Dataset, query: dict[str, str], status: int
) -> None:
    assert api("viewer").get(f"/api/v1/datasets/{dataset.id}/versions/2/diff", query).status_code == status


def test_ids_in_several_chunks_and_files_of_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diff, "_IDS_AT_ONCE", 1000)
    rows = [Row({"prompt": str(n)}, str(n), None) for n in range(5000)]
    old, new = storage.write(rows[:4500]), storage.write(reversed(rows[100:]))
    bare = tmp_path / "bare.parquet"
    pq.write_table(pq.read_table(old, columns=["row", "prompt", "answer"]), bare, row_group_size=2000)
    for one in (old, bare):
        made = diff.make_diff(one, new)
        assert diff.counts_of(made) == {"added": 500, "removed": 100, "changed": 0, "equal": 4400}
        [last] = diff.read_diff(made, one, new, 599, 1)
        assert (last["change"], last["before_index"], last["after_index"]) == ("removed", 99, None)
