"""The endpoints of a serving's worker: between platform and workers, so the public schema leaves them out."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from dressage.common.problems import validated
from dressage.jobs.services import take
from dressage.runs.link.job_views import JobLinkView, JobResultView, JobTakeView, JobTokenView
from dressage.serving.models import Serving
from dressage.serving.services import exchange, job_for_worker, take_result
from trainer_core.link.serving import ServingExchange, ServingJob, ServingLease, ServingQuestions, ServingResult


class ServingTokenView(JobTokenView):
    """The token of a serving that waits."""

    model = Serving


class ServingTakeView(JobTakeView[Serving]):
    """The models that shall be served."""

    model = Serving

    def document(self) -> ServingJob:
        """Implements ``JobTakeView.document``."""
        return job_for_worker(self.job)

    def take(self) -> None:
        """Implements ``JobTakeView.take``."""
        take(Serving, self.job.id)


class ServingLeaseView(JobLinkView[Serving]):
    """The worker's lease."""

    model = Serving

    @extend_schema(exclude=True)
    def post(self, request: Request, job_id: str) -> Response:
        """The worker is at it still: renews its lease; 409 when the serving is over."""
        take(Serving, job_id)
        return Response(ServingLease(lease_s=Serving.lease_s).wire())


class ServingExchangeView(JobLinkView[Serving]):
    """Answers for questions."""

    model = Serving

    @extend_schema(exclude=True)
    def post(self, request: Request, job_id: str) -> Response:
        """Keep answers and hand out questions; 409 when the serving is over."""
        found = exchange(job_id, validated(ServingExchange, request.data))
        return Response(ServingQuestions(questions=tuple(found)).wire())


class ServingResultView(JobResultView[Serving]):
    """Why the worker serves no longer."""

    model = Serving

    def store(self, answer: Any) -> Serving:
        """Implements ``JobResultView.store``."""
        return take_result(self.job.id, validated(ServingResult, answer))
