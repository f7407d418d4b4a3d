"""Reads of goldilocks."""

from django.db.models import QuerySet

from dressage.common.api.problems import not_found
from dressage.datasets.models import DatasetVersion
from dressage.profiles.models import Goldilocks
from dressage.teams.models import Team


def all_of(version: DatasetVersion) -> QuerySet[Goldilocks]:
    """The goldilocks of a version."""
    found = Goldilocks.objects.for_team(version.dataset.team).filter(version=version)
    return found.select_related("version__dataset", "made__dataset")


def goldilocks(team: Team, goldilocks_id: str) -> Goldilocks:
    """One goldilocks. Raises a 404 problem."""
    found = Goldilocks.objects.for_team(team).select_related("version__dataset", "made__dataset")
    job = found.filter(pk=goldilocks_id).first()
    if job is None:
        raise not_found("goldilocks")
    return job
