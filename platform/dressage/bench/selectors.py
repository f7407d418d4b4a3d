"""Reads of bench jobs."""

from django.db.models import QuerySet

from dressage.bench.models import BenchJob
from dressage.common.api.problems import not_found
from dressage.teams.models import Team


def bench_jobs(team: Team) -> QuerySet[BenchJob]:
    """The team's jobs without their large columns, except those created for a single answer."""
    return BenchJob.objects.for_team(team).filter(hidden=False).defer("samples", "results")


def bench_job(team: Team, job_id: str) -> BenchJob:
    """One job. Raises a 404 problem."""
    found = BenchJob.objects.for_team(team).filter(id=job_id).first()
    if found is None:
        raise not_found("bench job")
    return found
