"""Deletion: the rows go, the lineage stays, and nothing that is needed can be deleted."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.bench.models import BenchJob
from dressage.common.actors import Actor
from dressage.datasets import services
from dressage.datasets.models import Dataset, DatasetVersion
from dressage.datasets.selectors import version_by_ref
from dressage.rehearsals.models import Rehearsal
from dressage.runs.models import Run
from dressage.teams.models import AuditEntry, Team


def body(count: int) -> bytes:
    return b"".join(b'{"prompt": "p%d"}\n' % n for n in range(count))


@pytest.fixture
def dataset(team: Team, actor: Actor) -> Dataset:
    made = services.create_dataset(team, actor, name="Sums", file=BytesIO(body(2)), size=len(body(2)))
    services.create_version(made, actor, file=BytesIO(body(3)), size=len(body(3)))
    return made


@pytest.fixture
def editor(api: Callable[..., APIClient]) -> APIClient:
    return api("editor")


def kept(dataset_root: Path) -> list[str]:
    return sorted(path.name for path in dataset_root.rglob("*.parquet"))


def test_a_version_goes_and_its_lineage_stays(
    editor: APIClient, team: Team, dataset: Dataset, dataset_root: Path, django_capture_on_commit_callbacks: Any
) -> None:
    path = f"/api/v1/datasets/{dataset.id}/versions"
    removal = {"operation": {"name": "filter", "query": {"text": "p1"}}, "into": {"name": "Child"}}
    assert editor.post(f"{path}/2/derive", removal, format="json").status_code == 201
    assert editor.get(f"{path}/2/diff", {"against": 1}).status_code == 200
    assert len(kept(dataset_root)) == 4  # one is the difference
    with django_capture_on_commit_callbacks(execute=True):
        assert editor.delete(f"{path}/2").status_code == 204
    assert kept(dataset_root) == sorted(
        [version_by_ref(team, "sums@1").path.name, version_by_ref(team, "child@1").path.name]
    )
    document = editor.get(f"{path}/2").json()
    assert document["deleted_at"] is not None and document["deleted_by"] == editor.user.email  # type: ignore[attr-defined]
    for gone in ("rows", "download", "diff?against=1"):
        response = editor.get(f"{path}/2/{gone}")
        assert (response.status_code, response.json()["error"]["code"]) == (404, "version_deleted")
    assert editor.delete(f"{path}/2").status_code == 404
    assert editor.get(f"/api/v1/datasets/{dataset.id}").json()["latest_version"]["number"] == 1
    child = Dataset.objects.get(slug="child")
    assert editor.get(f"/api/v1/datasets/{child.id}/versions/1").json()["parent"]["deleted"] is True
    with pytest.raises(LookupError, match=r"sums@2 was deleted on"):
        version_by_ref(team, "sums@2")
    assert AuditEntry.objects.order_by("-number")[0].action == "dataset.version.delete"
    again = {"operation": {"name": "edit", "changes": [{"op": "add", "row": {"prompt": "new"}}]}}
    assert editor.post(f"{path}/1/derive", again, format="json").json()["results"][0]["ref"] == "sums@3"


def test_the_only_version_is_deleted_with_its_dataset(
    editor: APIClient, dataset: Dataset, dataset_root: Path, django_capture_on_commit_callbacks: Any
) -> None:
    path = f"/api/v1/datasets/{dataset.id}"
    assert editor.delete(f"{path}/versions/1").status_code == 204
    response = editor.delete(f"{path}/versions/2")
    assert (response.status_code, response.json()["error"]["code"]) == (409, "only_version")
    with django_capture_on_commit_callbacks(execute=True):
        assert editor.delete(path).status_code == 204
    assert [path.name for path in dataset_root.rglob("*.parquet")] == [
        DatasetVersion.objects.get(number=1).path.name  # whose own callback this test did not run
    ]
    assert editor.get(path).status_code == 404
    assert editor.get("/api/v1/datasets").json()["data"] == []
    assert editor.delete(path).status_code == 404
    file = BytesIO(body(1))
    file.name = "x.jsonl"
    taken = editor.post("/api/v1/datasets", {"name": "Sums", "file": file}, format="multipart")
    assert (taken.status_code, taken.json()["error"]["code"]) == (409, "slug_taken")


SPEC = {"data": {"sources": [{"name": "a", "dataset": "sums@1"}]}, "evaluation": {"sources": []}}
HELD_OUT = {"data": {"sources": []}, "evaluation": {"sources": [{"name": "e", "dataset": "sums@1"}]}}
NOTHING: dict[str, Any] = {"data": {"sources": []}, "evaluation": {"sources": []}}


def a_run(team: Team, **fields: Any) -> Run:
    return Run.objects.create(team=team, name="first", total_steps=1, created_by="x", **fields)


def a_bench_job(team: Team, **fields: Any) -> BenchJob:
    empty = {"definitions": [], "samples": [], "thinking": {}, "timeout_s": 1.0, "created_by": "x"}
    return BenchJob.objects.create(team=team, token_sha256="x", **empty, **fields)


def a_rehearsal(team: Team, **fields: Any) -> Rehearsal:
    return Rehearsal.objects.create(team=team, prompts=1, samples=1, token_sha256="x", created_by="x", **fields)


@pytest.mark.parametrize(
    ("make", "fields", "over"),
    [
        (a_run, {"spec": SPEC, "effective_spec": NOTHING}, "succeeded"),
        (a_run, {"spec": NOTHING, "effective_spec": HELD_OUT, "state": "suspended"}, "cancelled"),
        (a_rehearsal, {"spec": HELD_OUT}, "done"),
        (a_bench_job, {"source": {"type": "dataset", "dataset": "sums@1"}}, "failed"),
    ],
)
def test_what_is_needed_stays(
    editor: APIClient, team: Team, dataset: Dataset, dataset_root: Path, make: Any, fields: Any, over: str
) -> None:
    pin, path, files = make(team, **fields), f"/api/v1/datasets/{dataset.id}", kept(dataset_root)
    entries = AuditEntry.objects.count()
    for what in (f"{path}/versions/1", path):
        response = editor.delete(what)
        assert (response.status_code, response.json()["error"]["code"]) == (409, "dataset_in_use")
        [found] = response.json()["pins"]
        assert (found["id"], found["ref"], found["state"]) == (pin.id, "sums@1", pin.state)
    assert kept(dataset_root) == files and AuditEntry.objects.count() == entries
    assert not DatasetVersion.objects.exclude(deleted_at=None).exists()
    type(pin).objects.filter(pk=pin.pk).update(state=over)
    assert editor.delete(f"{path}/versions/1").status_code == 204


def test_other_teams_pin_nothing_and_viewers_delete_nothing(
    api: Callable[..., APIClient], editor: APIClient, dataset: Dataset
) -> None:
    rivals = Team.objects.create(name="Rivals", slug="rivals")
    a_run(rivals, spec=SPEC, effective_spec=SPEC)
    assert api("viewer").delete(f"/api/v1/datasets/{dataset.id}/versions/1").status_code == 403
    assert editor.delete(f"/api/v1/datasets/{dataset.id}/versions/1").status_code == 204


def test_seeding_brings_a_deleted_dataset_back(team: Team, actor: Actor, editor: APIClient, tmp_path: Path) -> None:
    file = tmp_path / "train.jsonl"
    file.write_bytes(body(3))
    first = services.create_version_from_path(team, actor, file, slug="demo")
    assert editor.delete(f"/api/v1/datasets/{first.dataset_id}").status_code == 204
    second = services.create_version_from_path(team, actor, file, slug="demo")
    assert (second.ref, second.dataset_id) == ("demo@2", first.dataset_id)
    document = editor.get(f"/api/v1/datasets/{first.dataset_id}").json()
    assert document["latest_version"]["number"] == 2
    assert services.create_version_from_path(team, actor, file, slug="demo") == second
