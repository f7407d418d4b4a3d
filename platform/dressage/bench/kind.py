"""Bench jobs as a kind of job."""

from collections.abc import Collection, Iterator
from typing import Any, ClassVar

from django.db.models import Q

from dressage.bench.documents import job_for_worker
from dressage.bench.models import BenchJob
from dressage.bench.services import take_result
from dressage.cluster_jobs.kinds import ClusterKind
from dressage.cluster_jobs.models import OPEN
from dressage.cluster_jobs.sweep import ago
from dressage.common.api.problems import validated
from dressage.datasets.versions.pins import Pin
from dressage.teams.models import Team
from trainer_core.link.bench import BenchJob as BenchMessage
from trainer_core.link.bench import BenchResult
from trainer_core.link.jobs import BENCH, JobKind

KEPT_S, HIDDEN_KEPT_S = 30 * 86_400, 86_400
"""Seconds for which jobs are stored: listed ones, and hidden ones."""


class BenchKind(ClusterKind[BenchJob]):
    """Scores of samples under one or two definitions."""

    model = BenchJob
    names: ClassVar[JobKind] = BENCH
    claimed = "the job"
    limit_s = 3600.0
    too_late = "The job did not finish within an hour."
    lost_while = "scored it."

    def message(self, job: BenchJob) -> BenchMessage:
        return job_for_worker(job)

    def take_result(self, job_id: str, answer: Any) -> BenchJob:
        body = validated(BenchResult, answer)
        results = None if body.results is None else [[s.model_dump() for s in scores] for scores in body.results]
        return take_result(job_id, results, body.judge and body.judge.model_dump(), body.error)

    def sweep(self) -> None:
        """Delete old jobs."""
        old = Q(created_at__lt=ago(KEPT_S)) | Q(created_at__lt=ago(HIDDEN_KEPT_S), hidden=True)
        BenchJob.objects.filter(old).delete()

    def pins(self, team: Team, refs: Collection[str]) -> Iterator[Pin]:
        """Jobs that score rows of one of the versions."""
        found = BenchJob.objects.for_team(team).filter(state__in=OPEN, source__type="dataset", source__dataset__in=refs)
        for job in found.only("id", "state", "source"):
            yield {"kind": "bench_job", "id": job.id, "name": job.id, "state": job.state, "ref": job.source["dataset"]}
