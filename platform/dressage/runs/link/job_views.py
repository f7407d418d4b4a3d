"""The endpoints that the worker of every kind of job calls. Each kind declares its own job, report and result."""

from abc import abstractmethod
from typing import Any, ClassVar, Generic, cast

from drf_spectacular.utils import extend_schema
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request
from rest_framework.response import Response

from dressage.common.problems import Problem, conflict, not_found
from dressage.jobs.models import ClusterJob, J, JobState
from dressage.jobs.services import give_up, require_open
from dressage.jobs.tokens import job_token
from dressage.runs.link.cluster import ClusterAuthentication, IsCluster
from dressage.runs.link.job_auth import IsOwnJob, JobAuthentication
from dressage.runs.link.parser import LinkParser
from dressage.runs.link.version import VersionedLinkView
from trainer_core.link.admission import Admission
from trainer_core.link.base import Message


class JobTokenView(VersionedLinkView):
    """A worker of the cluster is given the token of a job that waits."""

    model: ClassVar[type[ClusterJob]]
    authentication_classes = (ClusterAuthentication,)
    permission_classes = (IsCluster,)

    @extend_schema(exclude=True)
    def post(self, request: Request, job_id: str) -> Response:
        """The token, until a worker has taken the job: one that did not hear the answer asks again."""
        job = self.model.objects.filter(pk=job_id).defer(*self.model.large).first()
        if job is None:
            raise not_found(str(self.model._meta.verbose_name))
        if job.state != JobState.QUEUED:
            raise conflict(f"The {job.noun} is {job.state}: its token is not given out.", code="token_taken")
        self.require_turn(job)
        return Response(Admission(token=job_token(self.model, job_id)).wire())

    def require_turn(self, job: Any) -> None:
        """Require that a worker may take the job now, where its kind has an order. Raises a 409 problem."""

    def give_up(self, reason: str) -> None:
        """Fail the job, unless there is none or it is over."""
        if self.model.objects.filter(pk=self.kwargs["job_id"]).exists():
            give_up(self.model, self.kwargs["job_id"], reason)


class JobLinkView(VersionedLinkView, Generic[J]):
    """Base: only the job's own token."""

    model: ClassVar[type[ClusterJob]]
    permission_classes = (IsOwnJob,)
    parser_classes = (LinkParser,)

    def get_authenticators(self) -> list[BaseAuthentication]:
        return [JobAuthentication(self.model)]

    def give_up(self, reason: str) -> None:
        """Fail the job, unless it is over."""
        give_up(self.model, self.kwargs["job_id"], reason)

    @property
    def job(self) -> J:
        """The job that calls; ``IsOwnJob`` has let no other in."""
        return cast(J, self.request.auth)


class JobTakeView(JobLinkView[J]):
    """A worker takes the job."""

    @extend_schema(exclude=True)
    def get(self, request: Request, job_id: str) -> Response:
        """Everything that the job is made of. Takes it; 409 when it is over."""
        require_open(self.job)
        try:
            document = self.document()
        except Problem as problem:
            self.give_up(problem.detail)
            raise conflict(problem.detail, code=f"{self.job.noun}_is_over") from problem
        self.take()
        return Response(document.wire())

    @abstractmethod
    def document(self) -> Message:
        """The job as its worker gets it. Raises Problem when a worker can no longer do it."""

    @abstractmethod
    def take(self) -> None:
        """Begin the worker's lease."""


class JobResultView(JobLinkView[J]):
    """A worker answers."""

    @extend_schema(exclude=True)
    def post(self, request: Request, job_id: str) -> Response:
        """The result, or why there is none."""
        try:
            job = self.store(request.data)
        except Problem as problem:
            if problem.status == 422:  # the same worker would say the same again
                self.give_up(f"The worker's answer cannot be read: {problem.detail}")
            raise
        return Response({"state": job.state})

    @abstractmethod
    def store(self, answer: Any) -> J:
        """Store an answer, after it is validated. Returns the job. Raises Problem."""
