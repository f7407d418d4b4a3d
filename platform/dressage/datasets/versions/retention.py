"""Retention: replaced versions are deleted automatically if the card of their dataset says so.

Versions in use stay (``pins``), and so does every version that a run has read, since its result would no longer be
reproducible.
"""

import itertools
import logging
from datetime import datetime, timedelta

from django.utils import timezone

from dressage.common.actors import Actor
from dressage.common.api.problems import Problem
from dressage.datasets.models import Dataset, DatasetShare, DatasetVersion
from dressage.datasets.versions.deletion import delete_version
from dressage.datasets.versions.pins import ever_read

ACTOR = Actor.system("retention")
_log = logging.getLogger(__name__)


def due(dataset: Dataset, now: datetime) -> list[DatasetVersion]:
    """The versions of a dataset to delete at ``now``, oldest first. The newest is never deleted."""
    days = dataset.written_card.keep_days if hasattr(dataset, "written_card") else None
    if days is None:
        return []
    versions = list(dataset.versions.filter(deleted_at=None).order_by("number"))
    replaced = [(old, new.created_at) for old, new in itertools.pairwise(versions)]
    old = [version for version, at in replaced if at + timedelta(days=days) <= now]
    read = _ever_read(dataset, [version.number for version in old])
    return [version for version in old if version.number not in read]


def sweep(now: datetime | None = None) -> int:
    """Delete all versions that are due. Versions in use are tried again next time. Returns how many."""
    at, count = now or timezone.now(), 0
    kept = Dataset.objects.filter(deleted_at=None, written_card__keep_days__isnull=False)
    for dataset in kept.select_related("team", "written_card").order_by("pk"):
        for version in due(dataset, at):
            try:
                delete_version(version, ACTOR)
            except Problem as problem:
                _log.info("a replaced version stays", extra={"version": version.ref, "why": problem.detail})
            else:
                count += 1
    return count


def _ever_read(dataset: Dataset, numbers: list[int]) -> set[int]:
    """Numbers of versions that a run of the team or of a guest has read."""
    readers = [(dataset.team, dataset.slug)]
    for share in DatasetShare.objects.filter(dataset=dataset, guest__isnull=False).select_related("guest"):
        assert share.guest is not None
        readers.append((share.guest, share.slug))
    found: set[int] = set()
    for team, slug in readers:
        refs = ever_read(team, [f"{slug}@{number}" for number in numbers])
        found.update(int(ref.rpartition("@")[2]) for ref in refs)
    return found
