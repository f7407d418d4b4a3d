"""The link of a bench job: what its worker may ask and tell, with a token that is good for this job alone."""

from datetime import timedelta
from typing import Annotated, Any

from django.contrib.auth.models import AnonymousUser
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FiniteFloat, model_validator
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from dressage.common.problems import Problem, conflict, validated
from dressage.common.secrets import secret_hash
from dressage.rewards.bench.documents import worker_job
from dressage.rewards.bench.services import give_up, take_result
from dressage.rewards.bench.tokens import PREFIX
from dressage.rewards.models import BenchJob
from dressage.rewards.models.bench import OPEN, BenchState
from dressage.runs.link.parser import LinkParser

LEASE_S = 30.0
"""Seconds after which a worker that has not asked again is believed dead."""
MAX_ERROR = 20_000
Message = Annotated[str, AfterValidator(lambda text: text[:MAX_ERROR])]


class _Message(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class BenchScore(_Message):
    """One sample's score, as the worker tells it."""

    reward: FiniteFloat | None
    parts: dict[str, FiniteFloat] = {}
    error: Message | None = None
    traceback: Message | None = None
    seconds: Annotated[float, Field(ge=0.0)] = 0.0
    forgiven: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _one_of_two(self) -> "BenchScore":
        if (self.reward is None) == (self.error is None):
            raise ValueError("a score has either a reward or an error")
        return self


class BenchJudge(_Message):
    """What the judges were asked in all."""

    calls: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: FiniteFloat | None = None
    seconds_p50: FiniteFloat | None = None
    seconds_p95: FiniteFloat | None = None
    agreement_repeat: FiniteFloat | None = None
    agreement_swap: FiniteFloat | None = None


class BenchResult(_Message):
    """Either results or the reason why there are none."""

    results: tuple[tuple[BenchScore, ...], ...] | None = None
    judge: BenchJudge | None = None
    error: Annotated[str, Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> "BenchResult":
        if (self.results is None) == (self.error is None):
            raise ValueError("give either results or error")
        return self


class BenchLinkAuthentication(BaseAuthentication):
    """``Authorization: Bearer bnc_…``; ``request.auth`` is the job."""

    def authenticate(self, request: Request) -> tuple[Any, BenchJob]:
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not secret.startswith(PREFIX):
            raise AuthenticationFailed("The link needs the job's token.", code="invalid_token")
        job = BenchJob.objects.select_related("team").filter(token_sha256=secret_hash(secret.strip())).first()
        if job is None:
            raise AuthenticationFailed("The link token is unknown.", code="invalid_token")
        return AnonymousUser(), job

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="link"'


class IsOwnJob(BasePermission):
    """The token is for the job in the address."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if not isinstance(request.auth, BenchJob):
            return False
        if request.auth.id != view.kwargs["job_id"]:
            raise PermissionDenied("This token is for another job.", code="foreign_token")
        return True


class BenchLinkView(APIView):
    """Base: only the job's own token."""

    authentication_classes = (BenchLinkAuthentication,)
    permission_classes = (IsOwnJob,)
    parser_classes = (LinkParser,)


class BenchTakeView(BenchLinkView):
    @extend_schema(exclude=True)
    def get(self, request: Request, job_id: str) -> Response:
        """What to score. Takes the job; 409 when it is over."""
        try:
            document = worker_job(request.auth, LEASE_S)
        except Problem as problem:
            give_up(job_id, problem.detail)
            raise conflict(problem.detail, code="job_is_over") from problem
        _take(job_id)
        return Response(document)


class BenchLeaseView(BenchLinkView):
    @extend_schema(exclude=True)
    def post(self, request: Request, job_id: str) -> Response:
        """The worker is at it still: renews its lease; 409 when the job is over."""
        _take(job_id)
        return Response({"lease_s": LEASE_S})


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


@transaction.atomic
def _take(job_id: str) -> None:
    job = BenchJob.objects.select_for_update().get(pk=job_id)
    if job.state not in OPEN:
        raise conflict(f"The job is {job.state}.", code="job_is_over")
    if job.state == BenchState.QUEUED:
        job.tries += 1
    job.state, job.started_at = BenchState.RUNNING, job.started_at or timezone.now()
    job.save(update_fields=["state", "tries", "started_at"])
    BenchJob.objects.filter(pk=job_id).update(lease_expires_at=Now() + timedelta(seconds=LEASE_S))
