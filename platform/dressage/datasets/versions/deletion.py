"""Deletes versions and datasets. The files are removed; the database rows stay for the lineage of other versions."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from dressage.common.actors import Actor
from dressage.common.api.problems import Problem, conflict, not_found
from dressage.datasets.models import Dataset, DatasetShare, DatasetVersion
from dressage.datasets.versions import notes
from dressage.datasets.versions.pins import Pin, pins
from dressage.teams.services import record_audit

_NAMED = 3
"""Number of pins that the message names. All of them are in ``pins``."""


@transaction.atomic
def delete_version(version: DatasetVersion, actor: Actor) -> None:
    """Delete the rows of one version.

    Raises:
        Problem: 404 if it has already been deleted; 409 with ``pins`` if something needs it, or 409 if it is the only
            version. Nothing changes then.
    """
    dataset = Dataset.objects.select_for_update(no_key=True).get(pk=version.dataset_id)
    found = _locked(dataset, pk=version.pk)
    if not found:
        raise not_found("dataset version")
    if not dataset.versions.filter(deleted_at=None).exclude(pk=version.pk).exists():
        raise conflict("This is the only version. Delete the dataset instead.", code="only_version")
    _require_unpinned(dataset, [version])
    _bury(dataset, actor, [version])
    before = {"ref": version.ref, "rows": version.rows, "sha256": version.sha256}
    record_audit(dataset.team, actor, "dataset.version.delete", "dataset", dataset.id, before=before)


@transaction.atomic
def delete_dataset(dataset: Dataset, actor: Actor) -> None:
    """Delete all versions of a dataset. The slug stays reserved, so that old specs never refer to other rows.

    Raises:
        Problem: 404 if it has already been deleted; 409 with ``pins`` if something needs a version. Nothing changes
            then.
    """
    dataset = Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)
    if dataset.deleted_at is not None:
        raise not_found("dataset")
    versions = _locked(dataset)
    _require_unpinned(dataset, versions)
    _bury(dataset, actor, versions)
    dataset.deleted_at, dataset.deleted_by = timezone.now(), actor.label
    dataset.save(update_fields=["deleted_at", "deleted_by"])
    before = {"slug": dataset.slug, "versions": [version.number for version in versions]}
    record_audit(dataset.team, actor, "dataset.delete", "dataset", dataset.id, before=before)


@transaction.atomic
def take_back(version: DatasetVersion, actor: Actor) -> None:
    """Delete a version that an operation created, and its dataset if it is the only version.

    Raises:
        Problem: 409 if something needs it. Nothing changes then.
    """
    if version.dataset.versions.filter(deleted_at=None).exclude(pk=version.pk).exists():
        delete_version(version, actor)
    else:
        delete_dataset(version.dataset, actor)


def _locked(dataset: Dataset, **wanted: Any) -> list[DatasetVersion]:
    """The existing versions, locked after every holder (``holding.hold``), so that what those name is visible now."""
    found = dataset.versions.select_for_update(of=("self",), no_key=True).filter(deleted_at=None, **wanted)
    return list(found.order_by("pk"))


def _require_unpinned(dataset: Dataset, versions: Sequence[DatasetVersion]) -> None:
    numbers = [version.number for version in versions]
    found = [*pins(dataset.team, [f"{dataset.slug}@{number}" for number in numbers]), *_of_guests(dataset, numbers)]
    if found:
        named = ", ".join(_words(pin) for pin in found[:_NAMED])
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        raise Problem(
            409,
            "Conflict",
            f"It is needed by {named}{more}. Wait for their end, or cancel them.",
            code="dataset_in_use",
            extra={"pins": found},
        )


def _of_guests(dataset: Dataset, numbers: Sequence[int]) -> list[Pin]:
    """Pins of other teams that read the rows, without their ids and names."""
    found: list[Pin] = []
    for share in DatasetShare.objects.filter(dataset=dataset).select_related("guest"):
        if share.guest is None:
            continue
        for pin in pins(share.guest, [f"{share.slug}@{number}" for number in numbers]):
            ref = f"{dataset.slug}@{pin['ref'].rpartition('@')[2]}"
            masked = Pin(kind=pin["kind"], id="", name=share.guest.name, state=pin["state"], ref=ref)
            found.append(masked)
    return found


def _words(pin: Pin) -> str:
    if not pin["id"]:
        return f"a {pin['kind'].replace('_', ' ')} of the team {pin['name']!r}"
    return f"the {pin['kind'].replace('_', ' ')} {pin['name']!r}"


def _bury(dataset: Dataset, actor: Actor, versions: Sequence[DatasetVersion]) -> None:
    """Mark versions as deleted. After the commit, remove files that no other version of the dataset uses."""
    buried = [version.pk for version in versions]
    DatasetVersion.objects.filter(pk__in=buried).update(deleted_at=timezone.now(), deleted_by=actor.label)
    notes.discard_all(buried)
    paths = {version.path for version in versions}
    transaction.on_commit(lambda: remove_unnamed(dataset.pk, paths))


@transaction.atomic
def remove_unnamed(dataset_id: str, paths: Iterable[Path]) -> None:
    """Remove the given files of a dataset that no version names. Any of them may be created again while this waits."""
    known = Dataset.objects.select_for_update(no_key=True).filter(pk=dataset_id).first()
    versions = DatasetVersion.objects.filter(dataset=dataset_id, deleted_at=None)
    kept = set(versions.values_list("sha256", flat=True))
    for path in paths:
        if path.stem in kept:
            continue
        path.unlink(missing_ok=True)
        for derived in path.parent.glob(f"*/*{path.stem}*"):  # diffs, which can be computed again
            derived.unlink(missing_ok=True)
        if known is None and path.parent.is_dir():
            path.parent.rmdir()
