"""Versions that are made of others: what each operation leaves, what it refuses, and that a preview makes nothing."""

import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.datasets import services
from dressage.datasets.models import Dataset, DatasetVersion
from dressage.datasets.selectors import version_by_ref
from dressage.datasets.versions import storage
from dressage.teams.models import AuditEntry, Team
from tests.platform.retries import check_retry

LEVELS = b"".join(
    b'{"id": "r%d", "prompt": "How many horses are in stable %d?", "answer": %d, "level": %d, "tags": ["%s"]}\n'
    % (n, n, n, n % 3, b"even" if n % 2 == 0 else b"odd")
    for n in range(10)
)


def make(team: Team, actor: Actor, content: bytes = LEVELS, name: str = "Sums") -> Dataset:
    return services.create_dataset(team, actor, name=name, file=BytesIO(content), size=len(content))


def derive(client: APIClient, dataset: Dataset, operation: dict[str, Any], number: int = 1, **more: Any) -> Any:
    body = {"operation": operation, **more}
    return client.post(f"/api/v1/datasets/{dataset.id}/versions/{number}/derive", body, format="json")


def ids(team: Team, ref: str) -> list[str]:
    found = version_by_ref(team, ref)
    return [row["id"] for row in storage.read_rows(found.path, 0, 10_000)]


@pytest.fixture
def dataset(team: Team, actor: Actor) -> Dataset:
    return make(team, actor)


@pytest.fixture
def editor(api: Callable[..., APIClient]) -> APIClient:
    return api("editor")


def test_an_edit_keeps_ids_and_places(editor: APIClient, dataset: Dataset, team: Team) -> None:
    new = {"id": "else", "prompt": "How many?", "answer": 2**70}
    changes = [
        {"op": "change", "id": "r3", "row": new},
        {"op": "remove", "id": "r5"},
        {"op": "add", "id": "x/1", "row": {"prompt": "Added."}},
        {"op": "add", "row": {"prompt": "Added, too."}},
    ]
    response = derive(editor, dataset, {"name": "edit", "changes": changes}, latest=1)
    assert (response.status_code, response.json()["counts"]) == (
        201,
        {"before": 10, "after": 11, "added": 2, "removed": 1, "changed": 1},
    )
    found = ids(team, "sums@2")
    assert found[:10] == ["r0", "r1", "r2", "r3", "r4", "r6", "r7", "r8", "r9", "x/1"]
    assert len(found[10]) == 16
    version = version_by_ref(team, "sums@2")
    changed = next(storage.read_rows(version.path, 3, 1))
    assert (changed["row"], changed["answer"]) == (new, str(2**70))
    assert {"name": "level", "type": "number"} in version.columns
    document = editor.get(f"/api/v1/datasets/{dataset.id}/versions/2").json()
    assert document["parent"] == {"dataset_id": dataset.id, "number": 1, "ref": "sums@1", "deleted": False}
    assert document["operation"] == {
        "name": "edit",
        "arguments": {"ids": ["r3", "r5", "x/1"], "number_of_ids": 3},
        "counts": response.json()["counts"],
    }
    assert ids(team, "sums@1") == [f"r{n}" for n in range(10)]
    after = AuditEntry.objects.order_by("-number")[0].after_json
    assert '"operation": "edit"' in after and '"parent": "sums@1"' in after


ROW = {"prompt": "p"}
DEEP = json.loads("[" * 40 + "]" * 40)


@pytest.mark.parametrize(
    ("changes", "pointer", "words"),
    [
        ([{"op": "remove", "id": "r99"}], "/operation/changes", "no row 'r99'"),
        ([{"op": "change", "id": "r1", "row": {"x": 1}}], "/operation/changes/0", "`prompt` or `messages`"),
        ([{"op": "remove", "id": "r1"}, {"op": "remove", "id": "r1"}], "/operation/changes/1", "named twice"),
        ([{"op": "add", "id": "r1", "row": ROW}], "/operation/changes", "already"),
        ([{"op": "add", "id": "a b", "row": ROW}], "/operation/changes/0", "no id"),
        ([{"op": "add", "row": ROW}, {"op": "add", "row": ROW}], "/operation/changes", "equal row"),
        ([{"op": "add", "row": {"prompt": "p", "x": DEEP}}], "/operation/changes/0", "nested deeper than 32"),
        ([{"op": "add", "row": {"prompt": "p", "x": [10**300]}}], "/operation/changes/0", "more than 300 digits"),
        ([{"op": "add", "row": {"prompt": "x" * (1 << 20)}}], "/operation/changes/0", "bytes"),
        ([{"op": "remove", "id": f"r{n}"} for n in range(10)], "/operation", "No row would be left"),
    ],
)
@pytest.mark.parametrize("dry_run", [True, False])
def test_edits_that_cannot_be_made(
    editor: APIClient,
    dataset: Dataset,
    dataset_root: Path,
    changes: list[dict[str, Any]],
    pointer: str,
    words: str,
    dry_run: bool,
) -> None:
    files = sorted(dataset_root.rglob("*"))
    response = derive(editor, dataset, {"name": "edit", "changes": changes}, dry_run=dry_run)
    assert (response.status_code, response.json()["errors"][0]["pointer"]) == (422, pointer)
    assert words in response.json()["detail"]
    assert DatasetVersion.objects.count() == 1
    assert sorted(dataset_root.rglob("*")) == files


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"tags": ["level=0", "tags=even"]}, ["r0", "r6"]),
        ({"text": "HORSES stable 7"}, ["r7"]),
        ({"text": '"stable 8"'}, ["r8"]),
        ({"answer": "4"}, ["r4"]),
        ({"ids": ["r9", "r2"]}, ["r2", "r9"]),
        ({"ids": ["r9", "r2"], "tags": ["tags=odd"]}, ["r9"]),
        ({"min_length": 32, "max_length": 32, "script": "Latin", "text": "3"}, ["r3"]),
    ],
)
def test_filters(editor: APIClient, dataset: Dataset, team: Team, query: dict[str, Any], expected: list[str]) -> None:
    into = {"name": "Found", "description": "Some of them."}
    before = DatasetVersion.objects.count()
    preview = derive(editor, dataset, {"name": "filter", "query": query}, into=into, dry_run=True)
    assert (preview.status_code, preview.json()["results"]) == (
        200,
        [{"name": "Found", "slug": "found", "dataset_id": None, "number": 1, "ref": "found@1", "rows": len(expected)}],
    )
    assert DatasetVersion.objects.count() == before
    made = derive(editor, dataset, {"name": "filter", "query": query}, into=into)
    assert made.status_code == 201
    assert ids(team, "found@1") == expected
    assert made.json()["counts"] == preview.json()["counts"]
    child = version_by_ref(team, "found@1")
    assert child.parent is not None and (child.parent.ref, (child.operation or {})["name"]) == ("sums@1", "filter")


@pytest.mark.parametrize(
    "operation",
    [
        {"name": "filter", "query": {}},
        {"name": "filter", "query": {"text": "?!"}},
        {"name": "split", "shares": [{"name": "a", "share": 0.5}, {"name": "b", "share": 0.4}]},
        {"name": "split", "shares": [{"name": "a", "share": 0.5}, {"name": "a", "share": 0.5}]},
        {"name": "edit", "changes": [{"op": "remove"}]},
        {"name": "edit", "changes": [{"op": "change", "id": "r1"}]},
        {"name": "merge", "others": ["other@1"]},
        {"name": "shuffle"},
    ],
)
def test_operations_that_make_no_sense(editor: APIClient, dataset: Dataset, operation: dict[str, Any]) -> None:
    assert derive(editor, dataset, operation).status_code == 422
    assert DatasetVersion.objects.count() == 1


def test_a_split_puts_each_row_into_one_part_forever(editor: APIClient, team: Team, actor: Actor) -> None:
    dataset = make(team, actor, b"".join(b'{"prompt": "p", "id": "n%d"}\n' % n for n in range(1000)))
    shares = [{"name": "train", "share": 0.8}, {"name": "test", "share": 0.2}]
    made = derive(editor, dataset, {"name": "split", "shares": shares}).json()
    assert [result["ref"] for result in made["results"]] == ["sums-train@1", "sums-test@1"]
    train, test = set(ids(team, "sums-train@1")), set(ids(team, "sums-test@1"))
    assert (len(train) + len(test), train & test) == (1000, set())
    assert 150 < len(test) < 250
    assert made["counts"] == {"before": 1000, "after": 1000, "added": 0, "removed": 0, "changed": 0}
    removal = {"name": "edit", "changes": [{"op": "remove", "id": f"n{n}"} for n in range(500)]}
    assert derive(editor, dataset, removal).status_code == 201
    again = derive(editor, dataset, {"name": "split", "shares": shares}, number=2, into={"name": "Again"})
    assert again.status_code == 201
    assert set(ids(team, "again-test@1")) == {one for one in test if int(one[1:]) >= 500}
    other = derive(editor, dataset, {"name": "split", "shares": shares, "salt": "x"}, into={"name": "Salted"})
    assert other.status_code == 201
    assert set(ids(team, "salted-test@1")) != test


@pytest.mark.parametrize(("equal_ids", "expected"), [("first", 12), ("rename", 14)])
def test_a_merge(editor: APIClient, dataset: Dataset, team: Team, actor: Actor, equal_ids: str, expected: int) -> None:
    other = b"".join(b'{"id": "r%d", "prompt": "p", "grade": 1}\n' % n for n in range(8, 12))
    make(team, actor, other, "Others")
    made = derive(editor, dataset, {"name": "merge", "others": ["others@1"], "equal_ids": equal_ids})
    assert (made.status_code, made.json()["counts"]["after"]) == (201, expected)
    assert made.json()["counts"]["added"] == expected - 10
    found = ids(team, "sums@2")
    assert (len(set(found)), found[:10]) == (expected, [f"r{n}" for n in range(10)])
    assert found[-2:] == ["r10", "r11"]
    names = [column["name"] for column in version_by_ref(team, "sums@2").columns]
    assert names == ["id", "prompt", "answer", "level", "tags", "grade"]


def test_merging_a_version_with_itself_adds_nothing(editor: APIClient, dataset: Dataset, team: Team) -> None:
    made = derive(editor, dataset, {"name": "merge", "others": ["sums@1"]})
    assert made.json()["counts"] == {"before": 10, "after": 10, "added": 0, "removed": 0, "changed": 0}


def test_rows_that_were_renamed_once_are_told_from_those_of_the_next_merge(
    editor: APIClient, dataset: Dataset, team: Team, actor: Actor
) -> None:
    make(team, actor, b'{"id": "r1", "prompt": "one"}\n', "One")
    make(team, actor, b'{"id": "r1", "prompt": "two"}\n', "Two")
    assert derive(editor, dataset, {"name": "merge", "others": ["one@1"], "equal_ids": "rename"}).status_code == 201
    again = {"name": "merge", "others": ["two@1", "sums@2"], "equal_ids": "rename"}
    assert derive(editor, dataset, again, number=2).status_code == 201
    found = ids(team, "sums@3")
    assert (len(found), len(set(found)), found[:11]) == (23, 23, ids(team, "sums@2"))


def test_what_was_seen_must_still_be_the_newest(editor: APIClient, dataset: Dataset) -> None:
    operation = {"name": "edit", "changes": [{"op": "remove", "id": "r1"}]}
    assert derive(editor, dataset, operation, latest=1).status_code == 201
    for dry_run in (True, False):
        response = derive(editor, dataset, operation, latest=1, dry_run=dry_run)
        assert (response.status_code, response.json()["error"]["code"]) == (409, "newer_version")
    assert DatasetVersion.objects.count() == 2
    assert derive(editor, dataset, operation).status_code == 201


def test_a_slug_that_is_taken(editor: APIClient, dataset: Dataset, dataset_root: Path) -> None:
    files = sorted(dataset_root.rglob("*"))
    operation = {"name": "filter", "query": {"tags": ["tags=odd"]}}
    response = derive(editor, dataset, operation, into={"name": "Sums"})
    assert (response.status_code, response.json()["error"]["code"]) == (409, "slug_taken")
    assert sorted(dataset_root.rglob("*")) == files


def test_the_same_request_twice(editor: APIClient, dataset: Dataset) -> None:
    operation = {"name": "edit", "changes": [{"op": "remove", "id": "r1"}]}
    check_retry(editor, lambda: derive(editor, dataset, operation), DatasetVersion.objects.count)
    assert DatasetVersion.objects.count() == 2


def test_who_may_not(api: Callable[..., APIClient], dataset: Dataset) -> None:
    operation = {"name": "edit", "changes": [{"op": "remove", "id": "r1"}]}
    assert derive(api("viewer"), dataset, operation).status_code == 403
    assert DatasetVersion.objects.count() == 1
