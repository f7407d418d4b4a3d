"""The endpoints of a bench job's worker: between platform and workers, so the public schema leaves them out."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from dressage.bench.documents import job_for_worker
from dressage.bench.services import take_result
from dressage.common.problems import validated
from dressage.jobs.services import take
from dressage.rewards.models import BenchJob
from dressage.runs.link.job_views import JobLinkView, JobResultView, JobTakeView, JobTokenView
from trainer_core.link.bench import BenchJob as LinkBenchJob
from trainer_core.link.bench import BenchLease, BenchResult


class BenchTokenView(JobTokenView):
    """The token of a job that waits."""

    model = BenchJob


class BenchTakeView(JobTakeView[BenchJob]):
    """Samples and definitions to score."""

    model = BenchJob

    def document(self) -> LinkBenchJob:
        """Implements ``JobTakeView.document``."""
        return job_for_worker(self.job)

    def take(self) -> None:
        """Implements ``JobTakeView.take``."""
        take(BenchJob, self.job.id)


class BenchLeaseView(JobLinkView[BenchJob]):
    """The worker's lease."""

    model = BenchJob

    @extend_schema(exclude=True)
    def post(self, request: Request, job_id: str) -> Response:
        """The worker is at it still: renews its lease; 409 when the job is over."""
        take(BenchJob, job_id)
        return Response(BenchLease(lease_s=BenchJob.lease_s).wire())


class BenchResultView(JobResultView[BenchJob]):
    """The scores, or why there are none."""

    model = BenchJob

    def store(self, answer: Any) -> BenchJob:
        """Implements ``JobResultView.store``."""
        body = validated(BenchResult, answer)
        results = None if body.results is None else [[s.model_dump() for s in scores] for scores in body.results]
        return take_result(self.job.id, results, body.judge and body.judge.model_dump(), body.error)
