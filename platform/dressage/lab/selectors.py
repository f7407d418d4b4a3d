"""Queries for lab jobs."""

from django.db.models import QuerySet

from dressage.common.api.problems import not_found
from dressage.datasets.models import DatasetVersion
from dressage.lab.models import LabJob
from dressage.teams.models import Team


def jobs(team: Team) -> QuerySet[LabJob]:
    """The team's jobs."""
    return LabJob.objects.for_team(team).select_related("version__dataset", "made__dataset")


def jobs_of(team: Team, version: DatasetVersion) -> QuerySet[LabJob]:
    """Jobs on the rows of a version, without their reports."""
    return jobs(team).filter(version=version).defer("report", "drawn")


def job(team: Team, job_id: str) -> LabJob:
    """One job. Raises a 404 problem."""
    found = jobs(team).filter(id=job_id).first()
    if found is None:
        raise not_found("lab job")
    return found
