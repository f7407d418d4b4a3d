"""The link of jobs: what a worker may request and report, with a token for one job. Not in the public schema.

All kinds have the same routes; ``ClusterKind`` defines their messages.
"""

from typing import Any, ClassVar, cast

from django.contrib.auth.models import AnonymousUser
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path
from drf_spectacular.utils import extend_schema
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from dressage.cluster_jobs.kinds import ClusterKind
from dressage.cluster_jobs.life import claim, fail_open, job_token, require_open
from dressage.cluster_jobs.models import ClusterJob, PlacedJob
from dressage.cluster_jobs.registry import kinds
from dressage.common.api.problems import Problem, conflict, not_found, validated
from dressage.common.secrets import secret_hash
from dressage.jobs.models import JobState
from dressage.runs.link.cluster import ClusterAuthentication, IsCluster
from dressage.runs.link.datasets import send_dataset, send_difficulty
from dressage.runs.link.parser import LinkParser
from dressage.runs.link.version import VersionedLinkView
from trainer_core.link.admission import Admission
from trainer_core.link.jobs import JobLease


def routes() -> list[URLPattern]:
    """Routes of all kinds."""
    return [route for kind in kinds() for route in _routes_of(kind)]


def _routes_of(kind: ClusterKind[Any]) -> list[URLPattern]:
    base = f"link/{kind.names.path}/<str:job_id>"
    views: dict[str, type[_JobView]] = {
        "": ClaimView,
        "/token": JobTokenView,
        "/lease": LeaseView,
        "/result": ResultView,
        "/datasets/<str:ref>": JobDatasetView,
        "/datasets/<str:ref>/difficulty": JobDifficultyView,
    }
    found = [path(base + rest, view.as_view(kind=kind)) for rest, view in views.items()]
    return found + [path(f"{base}/{name}", RequestView.as_view(kind=kind, name=name)) for name in kind.requests()]


class JobAuthentication(BaseAuthentication):
    """``Authorization: Bearer <the kind's prefix>…``; ``request.auth`` is the job."""

    def __init__(self, model: type[ClusterJob]) -> None:
        """``model`` is the model of the kind's jobs."""
        self._model = model

    def authenticate(self, request: Request) -> tuple[Any, ClusterJob]:
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not secret.startswith(self._model.token_prefix):
            raise AuthenticationFailed("The link needs the job's token.", code="invalid_token")
        digest = {"token_sha256": secret_hash(secret.strip())}
        job = self._model.objects.select_related("team").filter(**digest).first()
        if job is None:
            raise AuthenticationFailed("The link token is unknown.", code="invalid_token")
        return AnonymousUser(), job

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="link"'


class IsOwnJob(BasePermission):
    """The token is for the job in the address."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if not isinstance(request.auth, ClusterJob):
            return False
        if request.auth.id != view.kwargs["job_id"]:
            raise PermissionDenied("This token is for another job.", code="foreign_token")
        return True


class _JobView(VersionedLinkView):
    """Base of all routes."""

    kind: ClassVar[ClusterKind[Any]] = cast(ClusterKind[Any], None)  # as_view sets the kind of each route
    schema = None

    def give_up(self, reason: str) -> None:
        """Fail the job, unless there is none or it is over."""
        if self.kind.model.objects.filter(pk=self.kwargs["job_id"]).exists():
            fail_open(self.kind.model, self.kwargs["job_id"], reason)


class JobTokenView(_JobView):
    """Gives a worker of the cluster the token of a queued job."""

    authentication_classes = (ClusterAuthentication,)
    permission_classes = (IsCluster,)

    @extend_schema(exclude=True)
    def post(self, request: Request, job_id: str) -> Response:
        """The token, until a worker has claimed the job. A worker that missed the answer asks again."""
        model = self.kind.model
        job = model.objects.filter(pk=job_id).defer(*model.large).first()
        if job is None:
            raise not_found(str(model._meta.verbose_name))
        if job.state != JobState.QUEUED:
            raise conflict(f"The {job.noun} is {job.state}: its token is not issued.", code="token_taken")
        if isinstance(job, PlacedJob) and job.placed_at is None:
            raise conflict(f"The {job.noun} has no slot yet: its token is not issued.", code="no_place")
        return Response(Admission(token=job_token(model, job_id)).wire())


class JobLinkView(_JobView):
    """Base of the views that require the job's own token."""

    permission_classes = (IsOwnJob,)
    parser_classes = (LinkParser,)

    def get_authenticators(self) -> list[BaseAuthentication]:
        return [JobAuthentication(self.kind.model)]

    @property
    def job(self) -> ClusterJob:
        """The calling job; ``IsOwnJob`` has rejected all others."""
        return cast(ClusterJob, self.request.auth)


class ClaimView(JobLinkView):
    """A worker claims the job."""

    @extend_schema(exclude=True)
    def get(self, request: Request, job_id: str) -> Response:
        """Everything that the job needs. Claims the job; 409 if it is over."""
        require_open(self.job)
        try:
            message = self.kind.message(self.job)
        except Problem as problem:
            self.give_up(problem.detail)
            raise conflict(problem.detail, code=f"{self.job.noun}_is_over") from problem
        claim(self.kind.model, job_id)
        return Response(message.wire())


class LeaseView(JobLinkView):
    """The worker's lease."""

    @extend_schema(exclude=True)
    def post(self, request: Request, job_id: str) -> Response:
        """The worker is still working: renews its lease and stores its progress; 409 if the job is over."""
        reported = self.kind.progress if request.data else None
        claim(self.kind.model, job_id, None if reported is None else validated(reported, request.data))
        return Response(JobLease(lease_s=self.kind.model.lease_s).wire())


class ResultView(JobLinkView):
    """A worker's answer."""

    @extend_schema(exclude=True)
    def post(self, request: Request, job_id: str) -> Response:
        """The result, or the reason there is none."""
        try:
            job = self.kind.take_result(job_id, request.data)
        except Problem as problem:
            if problem.status == 422:  # the same worker would send the same again
                self.give_up(f"The worker's answer cannot be read: {problem.detail}")
            raise
        return Response({"state": job.state})


class RequestView(JobLinkView):
    """An additional request of the kind."""

    name = ""

    @extend_schema(exclude=True)
    def post(self, request: Request, job_id: str) -> Response:
        """Answers 409 if the job is over."""
        return Response(self.kind.requests()[self.name](job_id, request.data).wire())


class JobDatasetView(JobLinkView):
    """The dataset versions that the job reads."""

    @extend_schema(exclude=True)
    def get(self, request: Request, job_id: str, ref: str) -> HttpResponseBase:
        """The Parquet file of a version."""
        self._require(ref)
        return send_dataset(request, self.job.team, ref)

    def _require(self, ref: str) -> None:
        """Require that the job is open and reads the version. Raises a 409 or 404 problem."""
        require_open(self.job)
        if ref not in self.kind.versions(self.job):
            raise not_found("dataset version")


class JobDifficultyView(JobDatasetView):
    """The known difficulty of the rows of these versions."""

    @extend_schema(exclude=True)
    def get(self, request: Request, job_id: str, ref: str) -> HttpResponseBase:
        """The Parquet file of the version's row notes ``difficulty``."""
        self._require(ref)
        return send_difficulty(request, self.job.team, ref)
