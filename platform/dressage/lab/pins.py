"""Versions that lab jobs read."""

from collections.abc import Collection, Iterable

from dressage.datasets.versions.pins import Pin
from dressage.lab.models import OPEN, LabJob
from dressage.teams.models import Team


def open_jobs(team: Team, refs: Collection[str]) -> Iterable[Pin]:
    """Unfinished jobs that read one of the versions."""
    wanted = set(refs)
    for job in LabJob.objects.for_team(team).filter(state__in=OPEN).select_related("version__dataset"):
        for ref in wanted & {job.version.ref, *job.operation.get("against", [])}:
            yield Pin(kind="lab_job", id=job.id, name=job.kind, state=job.state, ref=ref)
