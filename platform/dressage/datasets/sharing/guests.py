"""Datasets of other teams as a guest sees them.

Everything that guests receive is built here, and only here. Facts about the rows stay; information about the owner's
people, other datasets and work is removed. The objects are for reading and must not be saved.
"""

from collections.abc import Collection

from django.db.models import Prefetch, QuerySet

from dressage.datasets.models import Dataset, DatasetShare, DatasetVersion
from dressage.teams.models import Team


def shares_with(team: Team, *, ended: bool = False) -> QuerySet[DatasetShare]:
    """Shares that a team has accepted, of datasets that still exist.

    Args:
        team: the guest.
        ended: whether to include shares that were revoked, for work that began before.
    """
    found = DatasetShare.objects.filter(guest=team, dataset__deleted_at=None)
    return found if ended else found.filter(revoked_at=None)


def with_datasets(shares: QuerySet[DatasetShare]) -> QuerySet[DatasetShare]:
    """The same shares with their datasets, as ``seen`` needs them."""
    versions = DatasetVersion.objects.select_related("parent__dataset").order_by("number")
    found = shares.select_related("team", "dataset__written_card")
    return found.prefetch_related(Prefetch("dataset__versions", queryset=versions))


def seen(share: DatasetShare, versions: Collection[DatasetVersion] | None = None) -> Dataset:
    """The dataset of a share as its guest sees it.

    Args:
        share: the share, with its dataset and team.
        versions: versions of the dataset to prepare as well; None for all that are loaded.
    """
    dataset, owner = share.dataset, f"team {share.team.name}"
    dataset.slug, dataset.shared_by = share.slug, share.team.name
    dataset.created_by = owner
    card = getattr(dataset, "written_card", None)
    if card is not None:
        card.owner, card.owner_name, card.updated_by = None, "", owner
    for version in dataset.versions.all() if versions is None else versions:
        version.dataset, version.seen_by_guest = dataset, True
        version.created_by = owner
        version.deleted_by = owner if version.is_deleted else ""
        if version.parent is not None and version.parent.dataset_id != dataset.id:
            version.parent = None
        elif version.parent is not None:
            version.parent.dataset = dataset
        if version.operation is not None:
            version.operation = {**version.operation, "arguments": {}}  # may name other datasets
    return dataset


def seen_version(share: DatasetShare, number: int) -> DatasetVersion | None:
    """One version of a shared dataset as its guest sees it, deleted or not. None if it does not exist."""
    versions = DatasetVersion.objects.select_related("dataset", "parent__dataset")
    found = versions.filter(dataset=share.dataset_id, number=number).first()
    if found is not None:
        seen(share, [found])
    return found
