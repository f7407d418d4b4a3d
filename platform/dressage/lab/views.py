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
        """Jobs of the lab on a version, newest first, with how far each has come."""
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
        """Look at all rows in the background. What is found becomes notes of the rows; the version stays as it is.

        A synthesis also makes a version, of the rows and their variations that were verified.

        `dry_run` tells the rows, the estimated time and memory, and starts nothing.
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
        """A job of the lab, with its report once it is done.

        Who may mark rows that a judge has scored is told its verdicts on those that they are to mark once they have.
        """
        job = selectors.job(request.team, job_id)
        if request.role.covers(Role.EDITOR):
            job.report = report_for_marker(job, request.actor)
        return Response(LabJobWithReportSerializer(job).data)


class CancelLabJobView(ApiView):
    """The end of an operation."""

    noun = Noun.DATASETS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409,)}
    without_body = frozenset({"POST"})

    @extend_schema(operation_id="cancelLabJob", tags=["datasets"], request=None, responses=LabJobSerializer)
    @idempotent
    def post(self, request: TeamRequest, job_id: str) -> Response:
        """End a job of the lab that is not over. It leaves no notes."""
        job = services.cancel_job(request.team, request.actor, selectors.job(request.team, job_id))
        return Response(LabJobSerializer(job).data)


class ResumeLabJobView(ApiView):
    """The end of an operation's wait."""

    noun = Noun.DATASETS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409,)}
    without_body = frozenset({"POST"})

    @extend_schema(operation_id="resumeLabJob", tags=["datasets"], request=None, responses=LabJobSerializer)
    @idempotent
    def post(self, request: TeamRequest, job_id: str) -> Response:
        """Have a job of the lab that waits store what it has; no model is asked again.

        A synthesis waits where the team's quota, or the disk, was full when its version was to be stored.
        """
        job = services.resume_job(request.team, request.actor, selectors.job(request.team, job_id))
        return Response(LabJobSerializer(job).data)


class UndoLabJobView(ApiView):
    """The notes of an operation, taken back."""

    noun = Noun.DATASETS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409,)}
    without_body = frozenset({"POST"})

    @extend_schema(operation_id="undoLabJob", tags=["datasets"], request=None, responses=LabJobSerializer)
    @idempotent
    def post(self, request: TeamRequest, job_id: str) -> Response:
        """Remove the row notes that a job of the lab has left, and the version that it has made itself.

        Versions that people have made by the notes stay.
        """
        job = services.undo_job(request.team, request.actor, selectors.job(request.team, job_id))
        return Response(LabJobSerializer(job).data)
