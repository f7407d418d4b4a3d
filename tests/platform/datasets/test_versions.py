"""Versions are immutable and numbered; their rows can be paged through; seeding is repeatable."""

import threading
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.common.api.problems import Problem
from dressage.common.lengthy import FILES
from dressage.datasets import services
from dressage.datasets.models import Dataset, DatasetVersion
from dressage.datasets.rows.row import Row
from dressage.datasets.selectors import version_by_ref
from dressage.datasets.versions import storage
from dressage.teams.models import Team


def lines(count: int, text: str = "p") -> bytes:
    return b"".join(f'{{"prompt": "{text}{n}", "answer": {n}}}\n'.encode() for n in range(count))


def make(team: Team, actor: Actor, content: bytes, name: str = "Sums") -> Dataset:
    return services.create_dataset(team, actor, name=name, file=BytesIO(content), size=len(content))


def test_the_next_version_leaves_the_first_alone(team: Team, actor: Actor, api: Callable[..., APIClient]) -> None:
    dataset, editor = make(team, actor, lines(2)), api("editor")
    before = version_by_ref(team, "sums@1").path.read_bytes()
    file = BytesIO(lines(3, "q"))
    file.name = "x.jsonl"
    response = editor.post(f"/api/v1/datasets/{dataset.id}/versions", {"file": file}, format="multipart")
    assert (response.status_code, response.json()["ref"], response.json()["rows"]) == (201, "sums@2", 3)
    assert editor.get(f"/api/v1/datasets/{dataset.id}/versions/2").json() == response.json()
    assert version_by_ref(team, "sums@1").path.read_bytes() == before
    document = editor.get(f"/api/v1/datasets/{dataset.id}").json()
    assert [version["number"] for version in document["versions"]] == [1, 2]
    assert document["latest_version"] == response.json()


def test_a_refused_version_changes_nothing(team: Team, actor: Actor, api: Callable[..., APIClient]) -> None:
    dataset = make(team, actor, lines(2))
    file = BytesIO(b"x")
    file.name = "x.jsonl"
    response = api("editor").post(f"/api/v1/datasets/{dataset.id}/versions", {"file": file}, format="multipart")
    assert (response.status_code, response.json()["errors"][0]["pointer"]) == (422, "/file/lines/1")
    assert DatasetVersion.objects.count() == 1


def test_equal_rows_give_equal_files(team: Team, actor: Actor) -> None:
    first, second = make(team, actor, lines(5000)), make(team, actor, lines(5000), "Again")
    assert first.latest_version.sha256 == second.latest_version.sha256
    assert first.latest_version.path != second.latest_version.path


def test_rows_page_by_page(team: Team, actor: Actor, api: Callable[..., APIClient]) -> None:
    dataset, viewer = make(team, actor, lines(4500)), api("viewer")
    path = f"/api/v1/datasets/{dataset.id}/versions/1/rows"
    seen, after = [], None
    while True:
        page = viewer.get(path, {"limit": 200, **({} if after is None else {"after": after})}).json()
        assert page["object"] == "list"
        seen += page["data"]
        after = page["next"]
        if not page["has_more"]:
            break
    assert after is None
    assert [row["index"] for row in seen] == list(range(4500))
    assert seen[4321] == {
        "index": 4321,
        "id": "f6f6af6d2505710b",
        "prompt": "p4321",
        "answer": "4321",
        "row": {"prompt": "p4321", "answer": 4321},
    }


@pytest.mark.parametrize(("after", "limit", "expected"), [(1998, 3, [1999, 2000]), (0, 1, [1]), (5000, 3, [])])
def test_rows_over_the_seams_of_groups(
    team: Team, actor: Actor, api: Callable[..., APIClient], after: int, limit: int, expected: list[int]
) -> None:
    dataset = make(team, actor, lines(2001))
    path = f"/api/v1/datasets/{dataset.id}/versions/1/rows"
    page = api("viewer").get(path, {"after": after, "limit": limit}).json()
    assert [row["index"] for row in page["data"]] == expected
    assert page["has_more"] is (expected == [1])


@pytest.mark.parametrize(
    "query", [{"after": "x"}, {"after": "-1"}, {"after": "1" * 20}, {"limit": "0"}, {"limit": 999}]
)
def test_bad_pages(team: Team, actor: Actor, api: Callable[..., APIClient], query: dict[str, Any]) -> None:
    dataset = make(team, actor, lines(2))
    assert api("viewer").get(f"/api/v1/datasets/{dataset.id}/versions/1/rows", query).status_code == 422


@pytest.mark.parametrize("number", ["0", "2", "9" * 30])
def test_unknown_versions(team: Team, actor: Actor, api: Callable[..., APIClient], number: str) -> None:
    dataset = make(team, actor, lines(2))
    assert api("viewer").get(f"/api/v1/datasets/{dataset.id}/versions/{number}").status_code == 404


def test_a_preview_reads_only_the_groups_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow.parquet as pq

    path = storage.write(Row({"prompt": str(n)}, str(n), None) for n in range(10_000))
    read: list[int] = []
    original = pq.ParquetFile.read_row_group

    def spy(self: Any, group: int, *args: Any, **kwargs: Any) -> Any:
        read.append(group)
        return original(self, group, *args, **kwargs)

    monkeypatch.setattr(pq.ParquetFile, "read_row_group", spy)
    assert [row["prompt"] for row in storage.read_rows(path, 6000, 2)] == ["6000", "6001"]
    assert read == [3]


def test_seeding_twice_gives_one_version(team: Team, actor: Actor, tmp_path: Path) -> None:
    file = tmp_path / "train.jsonl"
    file.write_bytes(lines(3))
    first = services.create_version_from_path(team, actor, file, slug="demo", name="Demo")
    assert services.create_version_from_path(team, actor, file, slug="demo") == first
    file.write_bytes(lines(4))
    second = services.create_version_from_path(team, actor, file, slug="demo")
    assert (first.ref, second.ref, second.rows) == ("demo@1", "demo@2", 4)
    file.write_bytes(b"x")
    with pytest.raises(Problem):
        services.create_version_from_path(team, actor, file, slug="demo")
    assert DatasetVersion.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_uploads_at_the_same_time_take_different_numbers(
    team: Team, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FILES, "per_team", 4)
    dataset, start = make(team, actor, lines(1)), threading.Barrier(4)

    def add(number: int) -> None:
        start.wait(30)
        content = lines(number + 2)
        services.create_version(dataset, actor, file=BytesIO(content), size=len(content))
        connection.close()

    threads = [threading.Thread(target=add, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert list(DatasetVersion.objects.values_list("number", flat=True)) == [1, 2, 3, 4, 5]
