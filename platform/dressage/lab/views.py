"""REST views of the lab."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from dressage.common.api.idempotency import idempotent
from dressage.common.api.paging import page_query
from dressage.common.api.permissions import IsEditor
from dressage.common.roles import Role
from dressage.common.scopes import Noun
from dressage.datasets.selectors import stored_version
from dressage.lab import selectors, services
from dressage.lab.quality.selectors import report_for_marker
from dressage.lab.serializers import (
    LabJobSerializer,
    LabJobWithReportSerializer,
    StartedLabJobSerializer,
    StartLabJobSerializer,
)
from dressage.teams.api import ApiView, TeamRequest


class VersionLabView(ApiView):
    """Operations on the rows of a version."""

    noun = Noun.DATASETS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409, 429)}
    queries = {"GET": page_query()}

    @extend_schema(operation_id="listLabJobs", tags=["datasets"], responses=LabJobSerializer(many=True))
    def get(self, request: TeamRequest, dataset_id: str, number: int) -> Response:
        """List the lab jobs on a version with their progress, newest first."""
        version = stored_version(request.team, dataset_id, number)
        return self.page(selectors.jobs_of(request.team, version), LabJobSerializer)

    @extend_schema(
        operation_id="startLabJob",
        tags=["datasets"],
        request=StartLabJobSerializer,
        responses={200: StartedLabJobSerializer, 201: StartedLabJobSerializer},
    )
    @idempotent
    def post(self, request: TeamRequest, dataset_id: str, number: int) -> Response:
        """Start an operation on all rows in the background. Results become row notes; the version does not change.

        A synthesis also creates a version, with the rows and their verified variations.

        `dry_run` returns the number of rows and the estimated time and memory, and starts nothing.
        """
        version = stored_version(request.team, dataset_id, number)
        fields = self.body(StartLabJobSerializer)
        asked = services.start_job(version, request.actor, fields["operation"].root, dry_run=fields["dry_run"])
        code = status.HTTP_200_OK if asked.job is None else status.HTTP_201_CREATED
        return Response(StartedLabJobSerializer(asked).data, status=code)


class LabJobView(ApiView):
    """One operation."""

    noun = Noun.DATASETS

    @extend_schema(operation_id="getLabJob", tags=["datasets"], responses=LabJobWithReportSerializer)
    def get(self, request: TeamRequest, job_id: str) -> Response:
        """Return a lab job, with its report once it is done.

        Users who may mark rows see the judge's verdicts on the rows that they should mark only after marking them.
        """
        job = selectors.job(request.team, job_id)
        if request.role.covers(Role.EDITOR):
            job.report = report_for_marker(job, request.actor)
        return Response(LabJobWithReportSerializer(job).data)


class CancelLabJobView(ApiView):
    """Cancellation of an operation."""

    noun = Noun.DATASETS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409,)}
    without_body = frozenset({"POST"})

    @extend_schema(operation_id="cancelLabJob", tags=["datasets"], request=None, responses=LabJobSerializer)
    @idempotent
    def post(self, request: TeamRequest, job_id: str) -> Response:
        """Cancel an unfinished lab job. It leaves no notes."""
        job = services.cancel_job(request.team, request.actor, selectors.job(request.team, job_id))
        return Response(LabJobSerializer(job).data)


class ResumeLabJobView(ApiView):
    """Continuation of a waiting operation."""

    noun = Noun.DATASETS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409,)}
    without_body = frozenset({"POST"})

    @extend_schema(operation_id="resumeLabJob", tags=["datasets"], request=None, responses=LabJobSerializer)
    @idempotent
    def post(self, request: TeamRequest, job_id: str) -> Response:
        """Make a waiting lab job store its result. No model is called again.

        A synthesis waits if the team's quota or the disk was full when its version was to be stored.
        """
        job = services.resume_job(request.team, request.actor, selectors.job(request.team, job_id))
        return Response(LabJobSerializer(job).data)


class UndoLabJobView(ApiView):
    """Deletion of an operation's results."""

    noun = Noun.DATASETS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409,)}
    without_body = frozenset({"POST"})

    @extend_schema(operation_id="undoLabJob", tags=["datasets"], request=None, responses=LabJobSerializer)
    @idempotent
    def post(self, request: TeamRequest, job_id: str) -> Response:
        """Delete the row notes that a lab job left, and the version that it created.

        Versions that people derived from the notes stay.
        """
        job = services.undo_job(request.team, request.actor, selectors.job(request.team, job_id))
        return Response(LabJobSerializer(job).data)
