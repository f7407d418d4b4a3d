"""Queries for imports."""

from django.db.models import QuerySet

from dressage.common.api.problems import not_found
from dressage.datasets.models import DatasetImport
from dressage.teams.models import Team


def imports(team: Team) -> QuerySet[DatasetImport]:
    """The team's imports."""
    return DatasetImport.objects.for_team(team).select_related("version", "dataset")


def dataset_import(team: Team, import_id: str) -> DatasetImport:
    """One import. Raises a 404 problem."""
    found = imports(team).filter(id=import_id).first()
    if found is None:
        raise not_found("dataset import")
    return found
