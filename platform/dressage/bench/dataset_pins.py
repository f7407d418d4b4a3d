"""Bench jobs that score rows of datasets and whose result is awaited."""

from collections.abc import Collection, Iterator

from dressage.datasets.pins import Pin
from dressage.jobs.models import OPEN
from dressage.rewards.models import BenchJob
from dressage.teams.models import Team


def bench_jobs_with_rows(team: Team, refs: Collection[str]) -> Iterator[Pin]:
    """The bench jobs of the team that score rows of one of the versions ``slug@number``."""
    found = BenchJob.objects.for_team(team).filter(state__in=OPEN, source__type="dataset", source__dataset__in=refs)
    for job in found.only("id", "state", "source"):
        yield {"kind": "bench_job", "id": job.id, "name": job.id, "state": job.state, "ref": job.source["dataset"]}
