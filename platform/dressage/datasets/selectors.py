"""Queries for datasets.

``dataset``, ``version`` and ``stored_version`` find what the team owns; every change must start from them.
``readable_dataset`` and ``readable_version`` also find what other teams share with it.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from django.db.models import Prefetch, QuerySet

from dressage.common.api.problems import Problem, invalid, not_found
from dressage.common.refs import parse_ref
from dressage.datasets.models import Dataset, DatasetVersion
from dressage.datasets.sharing import guests
from dressage.datasets.versions import storage
from dressage.teams.models import Team


def datasets(team: Team) -> QuerySet[Dataset]:
    """The team's datasets with their versions, oldest version first."""
    versions = DatasetVersion.objects.select_related("parent__dataset").order_by("number")
    found = Dataset.objects.for_team(team).filter(deleted_at=None).select_related("written_card__owner__user")
    return found.prefetch_related(Prefetch("versions", queryset=versions))


def dataset(team: Team, dataset_id: str) -> Dataset:
    """One dataset. Raises a 404 problem."""
    found = datasets(team).filter(id=dataset_id).first()
    if found is None:
        raise not_found("dataset")
    return found


def version(team: Team, dataset_id: str, number: int) -> DatasetVersion:
    """One version of a dataset, even if it is deleted. Raises a 404 problem."""
    versions = DatasetVersion.objects.for_team(team).select_related("dataset", "parent__dataset")
    found = versions.filter(dataset_id=dataset_id, number=number).first()
    if found is None:
        raise not_found("dataset version")
    return found


def stored_version(team: Team, dataset_id: str, number: int) -> DatasetVersion:
    """One version that still has its rows. Raises a 404 problem, which says so if it was deleted."""
    return _stored(version(team, dataset_id, number))


def readable_dataset(team: Team, dataset_id: str) -> Dataset:
    """One dataset that the team owns or that is shared with it. Raises a 404 problem."""
    shares = guests.with_datasets(guests.shares_with(team).filter(dataset=dataset_id))
    share = shares.first()
    return dataset(team, dataset_id) if share is None else guests.seen(share)


def readable_version(team: Team, dataset_id: str, number: int) -> DatasetVersion:
    """One version with its rows that the team owns or that is shared with it. Raises a 404 problem."""
    return _stored(known_version(team, dataset_id, number))


def known_version(team: Team, dataset_id: str, number: int) -> DatasetVersion:
    """One version that the team owns or that is shared with it, even if it is deleted. Raises a 404 problem."""
    share = guests.with_datasets(guests.shares_with(team).filter(dataset=dataset_id)).first()
    if share is None:
        return version(team, dataset_id, number)
    found = guests.seen_version(share, number)
    if found is None:
        raise not_found("dataset version")
    return found


def number_before(found: DatasetVersion) -> int | None:
    """Number of the parent in the same dataset, otherwise of the preceding version; None if there is none."""
    if found.parent is not None and found.parent.dataset_id == found.dataset_id and found.parent.deleted_at is None:
        return found.parent.number
    earlier = DatasetVersion.objects.filter(dataset=found.dataset_id, deleted_at=None, number__lt=found.number)
    return earlier.order_by("-number").values_list("number", flat=True).first()


def version_by_ref(team: Team, ref: str, *, new: bool = True) -> DatasetVersion:
    """The version that a spec names as ``slug@number``: the team's own, or one that is shared with it.

    Args:
        team: the team of the spec.
        ref: the name.
        new: whether new work begins. Work that has already begun may use rows that were shared at that time.

    Raises:
        LookupError: the version cannot be used. The message is written for the author of the spec.
    """
    try:
        slug, number = parse_ref(ref)
    except ValueError as error:
        raise LookupError(str(error)) from error
    versions = DatasetVersion.objects.for_team(team).select_related("dataset")
    found = versions.filter(dataset__slug=slug, number=number).first()
    if found is None:
        shares = guests.with_datasets(guests.shares_with(team, ended=not new).filter(slug=slug))
        share = shares.order_by("-accepted_at").first()
        found = guests.seen_version(share, number) if share is not None else None
    if found is None:
        raise LookupError(f"There is no dataset version {ref} in this team.")
    if found.is_deleted:
        raise LookupError(_deleted(found))
    return found


def rows(found: DatasetVersion, after: int, limit: int) -> list[dict[str, Any]]:
    """Rows from ``after`` on, at most ``limit``: ``{index, id, prompt, answer, row}``. Raises a 422 problem."""
    with missing_files("/number"):
        return list(storage.read_rows(found.path, after, limit))


def rows_at(found: DatasetVersion, numbers: Collection[int]) -> dict[int, Any]:
    """Rows by number, from 0. Numbers beyond the end are skipped. Raises FileNotFoundError."""
    return storage.read_rows_at(found.path, numbers)


@contextmanager
def missing_files(pointer: str) -> Iterator[None]:
    """Turn a missing file into a 422 problem, for example if a version is deleted while it is being read."""
    try:
        yield
    except FileNotFoundError as error:
        raise invalid(pointer, "A file of the rows is gone.", code="missing_files") from error


def _stored(found: DatasetVersion) -> DatasetVersion:
    if found.is_deleted:
        raise Problem(404, "Not found", f"{_deleted(found)} Its rows are gone.", code="version_deleted")
    return found


def _deleted(found: DatasetVersion) -> str:
    when = f"{found.deleted_at:%-d %B %Y}"
    return f"The dataset version {found.ref} was deleted on {when} by {found.deleted_by}."
