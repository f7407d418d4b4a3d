"""The endpoints of a profile's worker: between platform and workers, so the public schema leaves them out."""

from typing import Any

from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from dressage.common.problems import conflict, not_found, validated
from dressage.jobs.services import require_open
from dressage.profiles.documents import job_for_worker
from dressage.profiles.models import Profile
from dressage.profiles.services import take, take_batch, take_result
from dressage.runs.link.datasets import send_dataset
from dressage.runs.link.job_views import JobLinkView, JobResultView, JobTakeView, JobTokenView
from trainer_core.link.profile import ProfileBatch, ProfileJob, ProfileLease, ProfileProgress, ProfileResult


class ProfileTokenView(JobTokenView):
    """The token of a profile that has its place and waits."""

    model = Profile

    def require_turn(self, job: Profile) -> None:
        """Require that the profile has its place on the cluster."""
        if job.placed_at is None:
            raise conflict("The profile has no place yet: its token is not given out.", code="no_place")


class ProfileTakeView(JobTakeView[Profile]):
    """Everything that the profile is made of, and what was handed in before."""

    model = Profile

    def document(self) -> ProfileJob:
        """Implements ``JobTakeView.document``."""
        return job_for_worker(self.job)

    def take(self) -> None:
        """Implements ``JobTakeView.take``."""
        take(self.job.id)


class ProfileDatasetView(JobLinkView[Profile]):
    """The version whose rows are sampled."""

    model = Profile

    @extend_schema(exclude=True)
    def get(self, request: Request, job_id: str, ref: str) -> HttpResponseBase:
        """The Parquet file of the version."""
        require_open(self.job)
        if ref != self.job.version.ref:
            raise not_found("dataset version")
        return send_dataset(request, self.job.team, ref)


class ProfileLeaseView(JobLinkView[Profile]):
    """The worker's lease, and how far it is."""

    model = Profile

    @extend_schema(exclude=True)
    def post(self, request: Request, job_id: str) -> Response:
        """The worker is at it still: renews its lease; 409 when the profile is over."""
        take(job_id, validated(ProfileProgress, request.data) if request.data else None)
        return Response(ProfileLease(lease_s=Profile.lease_s).wire())


class ProfileBatchesView(JobLinkView[Profile]):
    """Rows that were sampled."""

    model = Profile

    @extend_schema(exclude=True)
    def post(self, request: Request, job_id: str) -> Response:
        """Keep a batch; 409 when the profile is over, or another worker has gone on."""
        profile = take_batch(job_id, validated(ProfileBatch, request.data))
        return Response({"batches": profile.batches})


class ProfileResultView(JobResultView[Profile]):
    """The end of sampling, or why it failed."""

    model = Profile

    def store(self, answer: Any) -> Profile:
        """Implements ``JobResultView.store``."""
        return take_result(self.job.id, validated(ProfileResult, answer))
