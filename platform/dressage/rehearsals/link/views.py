"""The endpoints of a rehearsal's worker: between platform and workers, so the public schema leaves them out."""

from typing import Any

from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from dressage.common.problems import conflict, not_found, validated
from dressage.jobs.services import require_open
from dressage.rehearsals.documents import job_for_worker
from dressage.rehearsals.models import Rehearsal
from dressage.rehearsals.services import take, take_result
from dressage.runs.link.datasets import send_dataset, send_difficulty
from dressage.runs.link.job_views import JobLinkView, JobResultView, JobTakeView, JobTokenView
from dressage.runs.references import dataset_references
from dressage.teams.models import Team
from trainer_core.link.rehearsal import RehearsalJob, RehearsalLease, RehearsalProgress, RehearsalResult
from trainer_core.spec import RunSpec


class RehearsalTokenView(JobTokenView):
    """The token of a rehearsal that has its place and waits."""

    model = Rehearsal

    def require_turn(self, job: Rehearsal) -> None:
        """Require that the rehearsal has its place on the cluster."""
        if job.placed_at is None:
            raise conflict("The rehearsal has no place yet: its token is not given out.", code="no_place")


class RehearsalTakeView(JobTakeView[Rehearsal]):
    """Everything that the rehearsal is made of."""

    model = Rehearsal

    def document(self) -> RehearsalJob:
        """Implements ``JobTakeView.document``."""
        return job_for_worker(self.job)

    def take(self) -> None:
        """Implements ``JobTakeView.take``."""
        take(self.job.id)


class RehearsalDatasetView(JobLinkView[Rehearsal]):
    """The datasets that the rehearsal draws its prompts from."""

    model = Rehearsal

    @extend_schema(exclude=True)
    def get(self, request: Request, job_id: str, ref: str) -> HttpResponseBase:
        """The Parquet file of a dataset version that the spec names."""
        return send_dataset(request, self._team(ref), ref)

    def _team(self, ref: str) -> Team:
        """The rehearsal's team. Raises a 404 problem where the spec does not name the version."""
        require_open(self.job)
        if ref not in {named for _, named in dataset_references(RunSpec.model_validate(self.job.spec))}:
            raise not_found("dataset version")
        return self.job.team


class RehearsalDifficultyView(RehearsalDatasetView):
    """What is known of how hard the rows of these datasets are."""

    @extend_schema(exclude=True)
    def get(self, request: Request, job_id: str, ref: str) -> HttpResponseBase:
        """The Parquet file of the version's row notes ``difficulty``."""
        return send_difficulty(request, self._team(ref), ref)


class RehearsalLeaseView(JobLinkView[Rehearsal]):
    """The worker's lease, and how far it is."""

    model = Rehearsal

    @extend_schema(exclude=True)
    def post(self, request: Request, job_id: str) -> Response:
        """The worker is at it still: renews its lease; 409 when the rehearsal is over."""
        take(job_id, validated(RehearsalProgress, request.data) if request.data else None)
        return Response(RehearsalLease(lease_s=Rehearsal.lease_s).wire())


class RehearsalResultView(JobResultView[Rehearsal]):
    """The report, or why there is none."""

    model = Rehearsal

    def store(self, answer: Any) -> Rehearsal:
        """Implements ``JobResultView.store``."""
        body = validated(RehearsalResult, answer)
        return take_result(self.job.id, body.report, body.error)
