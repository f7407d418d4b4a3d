"""Retention: replaced versions go by themselves; the newest, the needed and the read do not."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.datasets import services
from dressage.datasets.models import Dataset, DatasetShare, DatasetVersion
from dressage.datasets.versions import retention
from dressage.runs.models import Run
from dressage.teams.models import AuditEntry, Team

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.fixture
def dataset(team: Team, actor: Actor) -> Dataset:
    """Three versions, made 40, 20 and 5 days ago."""
    made: Dataset | None = None
    for number, days in enumerate((40, 20, 5), 1):
        body = b'{"prompt": "p"}\n' * number
        if made is None:
            made = services.create_dataset(team, actor, name="Sums", file=BytesIO(body), size=len(body))
        else:
            services.create_version(made, actor, file=BytesIO(body), size=len(body))
        made.versions.filter(number=number).update(created_at=NOW - timedelta(days=days))
    assert made is not None
    return made


def keep(dataset: Dataset, days: int | None) -> None:
    type(dataset.written_card).objects.filter(dataset=dataset).update(keep_days=days)


def there(dataset: Dataset) -> list[int]:
    return list(dataset.versions.filter(deleted_at=None).order_by("number").values_list("number", flat=True))


def run_over(team: Team, ref: str, state: str) -> Run:
    spec = {"data": {"sources": [{"name": "sums", "dataset": ref}]}}
    named = {"name": "One", "created_by": "x", "total_steps": 1}
    return Run.objects.create(team=team, spec=spec, effective_spec=spec, state=state, **named)


@pytest.mark.parametrize(
    ("days", "left"), [(None, [1, 2, 3]), (30, [1, 2, 3]), (20, [2, 3]), (6, [2, 3]), (5, [3]), (1, [3])]
)
def test_a_version_goes_so_many_days_after_it_was_replaced(dataset: Dataset, days: int | None, left: list[int]) -> None:
    keep(dataset, days)
    assert retention.sweep(NOW) == 3 - len(left)
    assert there(dataset) == left
    assert retention.sweep(NOW) == 0


def test_files_go_and_the_log_tells_who_did_it(
    dataset: Dataset, dataset_root: Path, django_capture_on_commit_callbacks: Any
) -> None:
    keep(dataset, 1)
    with django_capture_on_commit_callbacks(execute=True):
        retention.sweep(NOW)
    (newest,) = dataset.versions.filter(deleted_at=None)
    assert [path.name for path in dataset_root.rglob("*.parquet")] == [newest.path.name]
    entries = AuditEntry.objects.filter(action="dataset.version.delete").order_by("number")
    assert [(entry.actor_kind, entry.before["ref"]) for entry in entries] == [
        ("system", "sums@1"),
        ("system", "sums@2"),
    ]
    gone = DatasetVersion.objects.get(dataset=dataset, number=1)
    assert gone.deleted_by == "system:retention"


@pytest.mark.parametrize("state", ["running", "paused", "succeeded", "failed", "cancelled"])
def test_what_a_run_has_ever_read_stays(dataset: Dataset, team: Team, state: str) -> None:
    run_over(team, "sums@1", state)
    keep(dataset, 1)
    assert retention.sweep(NOW) == 1
    assert there(dataset) == [1, 3]


def test_what_a_guests_run_has_read_stays(dataset: Dataset, actor: Actor) -> None:
    guest = Team.objects.create(name="Guests", slug="guests")
    share = DatasetShare(team=dataset.team, dataset=dataset, sha256="0" * 64, guest=guest, slug="borrowed")
    share.created_by, share.created_by_id, share.expires_at = actor.label, actor.id, NOW
    share.save()
    run_over(guest, "borrowed@2", "succeeded")
    run_over(guest, "sums@1", "succeeded")  # another dataset, of the guest's own
    keep(dataset, 1)
    assert retention.sweep(NOW) == 1
    assert there(dataset) == [2, 3]


def test_another_teams_dataset_keeps_by_its_own_card(dataset: Dataset, actor: Actor) -> None:
    rivals = Team.objects.create(name="Rivals", slug="rivals")
    theirs = services.create_dataset(rivals, actor, name="Sums", file=BytesIO(b'{"prompt": "p"}\n'), size=16)
    services.create_version(theirs, actor, file=BytesIO(b'{"prompt": "q"}\n'), size=16)
    theirs.versions.update(created_at=NOW - timedelta(days=90))
    keep(dataset, 1)
    retention.sweep(NOW)
    assert there(theirs) == [1, 2]


def test_the_card_says_how_long(api: Callable[..., APIClient], dataset: Dataset) -> None:
    editor, path = api("editor"), f"/api/v1/datasets/{dataset.id}/card"
    card = {"source": "", "licence": "", "purpose": "", "caveats": "", "owner": None}

    def put(revision: int, **fields: Any) -> Any:
        return editor.put(path, {**card, **fields}, format="json", headers={"If-Match": f'"{revision}"'})

    assert put(1, keep_days=30).json()["keep_days"] == 30
    assert put(2).json()["keep_days"] == 30, "a client that does not know it changes nothing"
    for wrong in (0, -1, 3651, "soon", 1.5):
        answer = put(3, keep_days=wrong)
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/keep_days")
    assert put(3, keep_days=None).json()["keep_days"] is None
    assert editor.get(f"/api/v1/datasets/{dataset.id}").json()["card"]["keep_days"] is None
    assert api("viewer").put(path, {**card, "keep_days": 1}, format="json").status_code == 403


def test_a_dataset_that_nobody_has_a_card_of_keeps_all(dataset: Dataset) -> None:
    dataset.written_card.delete()
    assert retention.due(Dataset.objects.get(pk=dataset.pk), NOW + timedelta(days=9999)) == []
