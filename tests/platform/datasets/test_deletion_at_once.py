"""Deletion beside what comes from a version in the same moment: nothing names rows that are gone, no file is left."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction

from dressage.common.actors import Actor
from dressage.common.api.problems import Problem
from dressage.datasets import services
from dressage.datasets.derivation.operations import DatasetOperation
from dressage.datasets.derivation.services import derive
from dressage.datasets.models import Dataset, DatasetVersion
from dressage.datasets.versions import deletion, storage
from dressage.datasets.versions.holding import hold
from dressage.lab.arguments import FindStatistics
from dressage.lab.models import LabJob
from dressage.lab.services import start_job
from dressage.runs.models import Run
from dressage.teams.models import AuditEntry, Team
from tests.platform.locks import another_waits
from tests.support.installation import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
NOTHING: dict[str, Any] = {"data": {"sources": []}, "evaluation": {"sources": []}}
SPEC = {**NOTHING, "data": {"sources": [{"name": "a", "dataset": "sums@1"}]}}
EDIT = DatasetOperation.model_validate(
    {"name": "edit", "changes": [{"op": "add", "id": "new", "row": {"prompt": "new"}}]}
).root


@pytest.fixture
def elsewhere() -> Iterator[Callable[..., Future[Any]]]:
    """``elsewhere(act, *args)``: the act in a thread with a connection of its own, as its future."""
    with ThreadPoolExecutor(2) as threads:

        def begin(act: Callable[..., Any], *args: Any) -> Future[Any]:
            def closing() -> Any:
                try:
                    return act(*args)
                finally:
                    connection.close()

            return threads.submit(closing)

        yield begin


def body(count: int) -> bytes:
    return b"".join(b'{"prompt": "p%d"}\n' % n for n in range(count))


@pytest.fixture
def dataset(team: Team, actor: Actor) -> Dataset:
    made = services.create_dataset(team, actor, name="Sums", file=BytesIO(body(2)), size=len(body(2)))
    services.create_version(made, actor, file=BytesIO(body(3)), size=len(body(3)))
    return made


def files(root: Path) -> set[str]:
    return {path.name for path in root.rglob("*") if path.is_file()}


def waits(other: Future[Any]) -> None:
    """Wait until the other waits for a lock, or is done."""
    wait_until(lambda: other.done() or another_waits(), 20)


def test_a_run_that_is_made_first_keeps_the_rows(
    team: Team, actor: Actor, dataset: Dataset, dataset_root: Path, elsewhere: Any
) -> None:
    before, version = files(dataset_root), dataset.versions.get(number=1)
    with transaction.atomic():
        hold(team, ["sums@1"])
        removal = elsewhere(deletion.delete_version, version, actor)
        waits(removal)
        Run.objects.create(team=team, name="first", total_steps=1, created_by="x", spec=SPEC, effective_spec=SPEC)
    with pytest.raises(Problem) as caught:
        removal.result(20)
    assert caught.value.code == "dataset_in_use"
    assert files(dataset_root) == before and not DatasetVersion.objects.exclude(deleted_at=None).exists()


@pytest.mark.parametrize("whole", [True, False])
def test_a_run_that_comes_second_finds_that_they_are_gone(
    team: Team, actor: Actor, dataset: Dataset, elsewhere: Any, whole: bool
) -> None:
    def look() -> bool:
        with transaction.atomic():
            hold(team, ["sums@1"])
            return DatasetVersion.objects.filter(number=1, deleted_at=None).exists()

    with transaction.atomic():
        if whole:
            deletion.delete_dataset(dataset, actor)
        else:
            deletion.delete_version(dataset.versions.get(number=1), actor)
        other = elsewhere(look)
        waits(other)
        assert not other.done()
    assert other.result(20) is False


def test_a_lab_job_that_comes_second_is_told_that_they_are_gone(
    team: Team, actor: Actor, dataset: Dataset, elsewhere: Any
) -> None:
    version = dataset.versions.get(number=1)
    with transaction.atomic():
        deletion.delete_version(dataset.versions.get(number=1), actor)
        other = elsewhere(start_job, version, actor, FindStatistics(kind="statistics"))
        waits(other)
    with pytest.raises(Problem) as caught:
        other.result(20)
    assert (caught.value.status, caught.value.code) == (404, "version_deleted")
    assert not LabJob.objects.exists()


def test_two_deletions_are_one(team: Team, actor: Actor, dataset: Dataset, elsewhere: Any) -> None:
    version = dataset.versions.get(number=1)
    with transaction.atomic():
        deletion.delete_version(version, actor)
        other = elsewhere(deletion.delete_version, version, actor)
        waits(other)
    with pytest.raises(Problem) as caught:
        other.result(20)
    assert caught.value.status == 404
    assert AuditEntry.objects.filter(action="dataset.version.delete").count() == 1
    with transaction.atomic():
        deletion.delete_dataset(dataset, actor)
        other = elsewhere(deletion.delete_dataset, dataset, actor)
        waits(other)
    with pytest.raises(Problem) as caught:
        other.result(20)
    assert caught.value.status == 404
    assert AuditEntry.objects.filter(action="dataset.delete").count() == 1


@pytest.mark.parametrize("upload", [True, False])
def test_no_version_comes_to_a_dataset_that_is_deleted(
    team: Team, actor: Actor, dataset: Dataset, dataset_root: Path, elsewhere: Any, upload: bool
) -> None:
    def make() -> None:
        if upload:
            services.create_version(dataset, actor, file=BytesIO(body(4)), size=len(body(4)))
        else:
            derive(team, dataset.versions.get(number=1), actor, EDIT)

    with transaction.atomic():
        Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)
        other = elsewhere(make)
        waits(other)
        deletion.delete_dataset(dataset, actor)
    with pytest.raises(Problem) as caught:
        other.result(20)
    assert caught.value.status == 404
    assert DatasetVersion.objects.count() == 2
    assert files(dataset_root) == set()


def test_rows_that_are_made_again_while_they_are_deleted_stay(
    team: Team, actor: Actor, dataset: Dataset, elsewhere: Any
) -> None:
    version = dataset.versions.get(number=1)
    with transaction.atomic():
        deletion.delete_version(version, actor)
        # The files are removed behind this commit; the upload waits for it, too.
        again = elsewhere(lambda: services.create_version(dataset, actor, file=BytesIO(body(2)), size=len(body(2))))
        waits(again)
    made = again.result(20)
    deletion.remove_unnamed(dataset.pk, [version.path])
    assert made.path == version.path and made.path.is_file()


def test_an_upload_and_an_operation_do_not_wait_for_each_other_in_a_circle(
    team: Team, actor: Actor, dataset: Dataset, elsewhere: Any
) -> None:
    version = dataset.versions.get(number=1)
    with transaction.atomic():
        services.locked_dataset(dataset.pk)
        other = elsewhere(derive, team, version, actor, EDIT)
        waits(other)
        # What an upload does next: its entry in the audit log locks the team.
        Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    assert other.result(20)["results"][0]["ref"] == "sums@3"


def test_a_split_of_which_one_part_cannot_be_stored_leaves_nothing(
    team: Team, actor: Actor, dataset: Dataset, dataset_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares = [{"name": "train", "share": 0.5}, {"name": "test", "share": 0.5}]
    split = DatasetOperation.model_validate({"name": "split", "shares": shares}).root
    body_of_all = body(200)
    many = services.create_dataset(team, actor, name="Many", file=BytesIO(body_of_all), size=len(body_of_all))
    before = files(dataset_root)
    write_tables = storage.write_tables

    def write_beside_another(tables: Any) -> Path:
        # The second part's name is taken between the first look and the last.
        Dataset.objects.get_or_create(team=team, slug="many-test", name="Other", created_by="x")
        return write_tables(tables)

    monkeypatch.setattr(storage, "write_tables", write_beside_another)
    with pytest.raises(Problem) as caught:
        derive(team, many.versions.get(), actor, split)
    assert caught.value.code == "slug_taken"
    assert not Dataset.objects.filter(slug="many-train").exists()
    assert files(dataset_root) == before
    assert {path.name for path in dataset_root.iterdir()} == {dataset.id, many.id}
