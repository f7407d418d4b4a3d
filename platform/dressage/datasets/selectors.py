"""Reads of datasets."""

from collections.abc import Collection
from typing import Any

from django.db.models import Prefetch, QuerySet

from dressage.common.problems import not_found
from dressage.common.refs import parse_ref
from dressage.datasets import storage
from dressage.datasets.models import Dataset, DatasetVersion
from dressage.teams.models import Team


def datasets(team: Team) -> QuerySet[Dataset]:
    """The team's datasets with their versions, oldest version first."""
    versions = DatasetVersion.objects.order_by("number")
    return Dataset.objects.for_team(team).prefetch_related(Prefetch("versions", queryset=versions))


def dataset(team: Team, dataset_id: str) -> Dataset:
    """One dataset. Raises a 404 problem."""
    found = datasets(team).filter(id=dataset_id).first()
    if found is None:
        raise not_found("dataset")
    return found


def version(team: Team, dataset_id: str, number: int) -> DatasetVersion:
    """One version of a dataset. Raises a 404 problem."""
    versions = DatasetVersion.objects.for_team(team).select_related("dataset")
    found = versions.filter(dataset_id=dataset_id, number=number).first()
    if found is None:
        raise not_found("dataset version")
    return found


def version_by_ref(team: Team, ref: str) -> DatasetVersion:
    """The version that a spec names as ``slug@number``.

    Raises:
        LookupError: with a sentence for the one who wrote the spec.
    """
    try:
        slug, number = parse_ref(ref)
    except ValueError as error:
        raise LookupError(str(error)) from error
    versions = DatasetVersion.objects.for_team(team).select_related("dataset")
    found = versions.filter(dataset__slug=slug, number=number).first()
    if found is None:
        raise LookupError(f"There is no dataset version {ref} in this team.")
    return found


def rows(found: DatasetVersion, after: int, limit: int) -> list[dict[str, Any]]:
    """Rows from ``after`` on, at most ``limit``: ``{index, id, prompt, answer, row}``."""
    return list(storage.read_rows(found.path, after, limit))


def rows_at(found: DatasetVersion, numbers: Collection[int]) -> dict[int, Any]:
    """Rows by their number, from 0 on; those beyond the end are left out. Raises FileNotFoundError."""
    return storage.read_rows_at(found.path, numbers)
