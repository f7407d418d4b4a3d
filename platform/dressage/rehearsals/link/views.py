"""The endpoints of a rehearsal's worker: between platform and workers, so the public schema leaves them out."""

from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from dressage.common.problems import Problem, conflict, not_found, validated
from dressage.rehearsals.documents import job_for_worker
from dressage.rehearsals.models import Rehearsal, RehearsalState
from dressage.rehearsals.services import LEASE_S, give_up, require_open, take, take_result
from dressage.rehearsals.tokens import PREFIX, rehearsal_token
from dressage.runs.link.cluster import ClusterAuthentication, IsCluster
from dressage.runs.link.datasets import send_dataset
from dressage.runs.link.job_auth import IsOwnJob, JobAuthentication
from dressage.runs.link.parser import LinkParser
from dressage.runs.link.version import VersionedLinkView
from dressage.runs.references import dataset_references
from trainer_core.link.admission import Admission
from trainer_core.link.rehearsal import RehearsalLease, RehearsalProgress, RehearsalResult
from trainer_core.spec import RunSpec


class RehearsalLinkAuthentication(JobAuthentication):
    """``Authorization: Bearer rhs_…``; ``request.auth`` is the rehearsal."""

    model = Rehearsal
    prefix = PREFIX


class RehearsalLinkView(VersionedLinkView):
    """Base: only the rehearsal's own token."""

    authentication_classes = (RehearsalLinkAuthentication,)
    permission_classes = (IsOwnJob,)
    parser_classes = (LinkParser,)

    def give_up(self, reason: str) -> None:
        """Fail the rehearsal, unless it is over."""
        give_up(self.kwargs["job_id"], reason)

    @property
    def rehearsal(self) -> Rehearsal:
        """The rehearsal that calls; ``IsOwnJob`` has let no other in."""
        rehearsal = self.request.auth
        assert isinstance(rehearsal, Rehearsal)
        return rehearsal


class RehearsalTokenView(VersionedLinkView):
    """A worker of the cluster is given the token of a rehearsal that has its place and waits."""

    authentication_classes = (ClusterAuthentication,)
    permission_classes = (IsCluster,)

    @extend_schema(exclude=True)
    def post(self, request: Request, job_id: str) -> Response:
        """The token, until a worker has taken the rehearsal: one that did not hear the answer asks again."""
        found = Rehearsal.objects.filter(pk=job_id).values_list("state", "placed_at").first()
        if found is None:
            raise not_found("rehearsal")
        state, placed_at = found
        if state != RehearsalState.QUEUED:
            raise conflict(f"The rehearsal is {state}: its token is not given out.", code="token_taken")
        if placed_at is None:
            raise conflict("The rehearsal has no place yet: its token is not given out.", code="no_place")
        return Response(Admission(token=rehearsal_token(job_id)).wire())

    def give_up(self, reason: str) -> None:
        """Fail the rehearsal, unless there is none or it is over."""
        if Rehearsal.objects.filter(pk=self.kwargs["job_id"]).exists():
            give_up(self.kwargs["job_id"], reason)


class RehearsalTakeView(RehearsalLinkView):
    @extend_schema(exclude=True)
    def get(self, request: Request, job_id: str) -> Response:
        """Everything that the rehearsal is made of. Takes it; 409 when it is over."""
        require_open(self.rehearsal)
        try:
            job = job_for_worker(self.rehearsal)
        except Problem as problem:
            give_up(job_id, problem.detail)
            raise conflict(problem.detail, code="rehearsal_is_over") from problem
        take(job_id)
        return Response(job.wire())


class RehearsalDatasetView(RehearsalLinkView):
    @extend_schema(exclude=True)
    def get(self, request: Request, job_id: str, ref: str) -> HttpResponseBase:
        """The Parquet file of a dataset version that the spec names."""
        require_open(self.rehearsal)
        if ref not in {named for _, named in dataset_references(RunSpec.model_validate(self.rehearsal.spec))}:
            raise not_found("dataset version")
        return send_dataset(request, self.rehearsal.team, ref)


class RehearsalLeaseView(RehearsalLinkView):
    @extend_schema(exclude=True)
    def post(self, request: Request, job_id: str) -> Response:
        """The worker is at it still: renews its lease; 409 when the rehearsal is over."""
        take(job_id, validated(RehearsalProgress, request.data) if request.data else None)
        return Response(RehearsalLease(lease_s=LEASE_S).wire())


class RehearsalResultView(RehearsalLinkView):
    @extend_schema(exclude=True)
    def post(self, request: Request, job_id: str) -> Response:
        """The report, or why there is none."""
        try:
            body = validated(RehearsalResult, request.data)
            rehearsal = take_result(job_id, body.report, body.error)
        except Problem as problem:
            if problem.status == 422:  # the same worker would say the same again
                give_up(job_id, f"The worker's answer cannot be read: {problem.detail}")
            raise
        return Response({"state": rehearsal.state})
