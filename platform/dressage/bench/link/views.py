"""The endpoints of a bench job's worker: between platform and workers, so the public schema leaves them out."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from dressage.bench.documents import job_for_worker
from dressage.bench.link.auth import BenchLinkAuthentication
from dressage.bench.services import LEASE_S, give_up, require_open, take, take_result
from dressage.bench.tokens import bench_token
from dressage.common.problems import Problem, conflict, not_found, validated
from dressage.rewards.models import BenchJob
from dressage.rewards.models.bench import BenchState
from dressage.runs.link.cluster import ClusterAuthentication, IsCluster
from dressage.runs.link.job_auth import IsOwnJob
from dressage.runs.link.parser import LinkParser
from dressage.runs.link.version import VersionedLinkView
from trainer_core.link.admission import Admission
from trainer_core.link.bench import BenchLease, BenchResult


class BenchLinkView(VersionedLinkView):
    """Base: only the job's own token."""

    authentication_classes = (BenchLinkAuthentication,)
    permission_classes = (IsOwnJob,)
    parser_classes = (LinkParser,)

    def give_up(self, reason: str) -> None:
        """Fail the job, unless it is over."""
        give_up(self.kwargs["job_id"], reason)

    @property
    def job(self) -> BenchJob:
        """The job that calls; ``IsOwnJob`` has let no other in."""
        job = self.request.auth
        assert isinstance(job, BenchJob)
        return job


class BenchTokenView(VersionedLinkView):
    """A worker of the cluster is given the token of a job that waits."""

    authentication_classes = (ClusterAuthentication,)
    permission_classes = (IsCluster,)

    @extend_schema(exclude=True)
    def post(self, request: Request, job_id: str) -> Response:
        """The token, until a worker has taken the job: one that did not hear the answer asks again."""
        state = BenchJob.objects.filter(pk=job_id).values_list("state", flat=True).first()
        if state is None:
            raise not_found("bench job")
        if state != BenchState.QUEUED:
            raise conflict(f"The job is {state}: its token is not given out.", code="token_taken")
        return Response(Admission(token=bench_token(job_id)).wire())

    def give_up(self, reason: str) -> None:
        """Fail the job, unless there is none or it is over."""
        if BenchJob.objects.filter(pk=self.kwargs["job_id"]).exists():
            give_up(self.kwargs["job_id"], reason)


class BenchTakeView(BenchLinkView):
    @extend_schema(exclude=True)
    def get(self, request: Request, job_id: str) -> Response:
        """Samples and definitions to score. Takes the job; 409 when it is over."""
        require_open(self.job)
        try:
            job = job_for_worker(self.job, LEASE_S)
        except Problem as problem:
            give_up(job_id, problem.detail)
            raise conflict(problem.detail, code="job_is_over") from problem
        take(job_id)
        return Response(job.wire())


class BenchLeaseView(BenchLinkView):
    @extend_schema(exclude=True)
    def post(self, request: Request, job_id: str) -> Response:
        """The worker is at it still: renews its lease; 409 when the job is over."""
        take(job_id)
        return Response(BenchLease(lease_s=LEASE_S).wire())


class BenchResultView(BenchLinkView):
    @extend_schema(exclude=True)
    def post(self, request: Request, job_id: str) -> Response:
        """The scores, or why there are none."""
        try:
            body = validated(BenchResult, request.data)
            results = None if body.results is None else [[s.model_dump() for s in scores] for scores in body.results]
            job = take_result(job_id, results, body.judge and body.judge.model_dump(), body.error)
        except Problem as problem:
            if problem.status == 422:  # the same worker would say the same again
                give_up(job_id, f"The worker's answer cannot be read: {problem.detail}")
            raise
        return Response({"state": job.state})
