"""Actions of operators on a run."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from dressage.common.api.idempotency import idempotent
from dressage.common.api.permissions import IsEditor, IsOperator
from dressage.common.scopes import Noun
from dressage.runs.facts import selectors
from dressage.runs.facts.serializers import ForkSerializer, RunSerializer
from dressage.runs.life import services
from dressage.runs.recovery import branches
from dressage.teams.api import ApiView, TeamRequest


class ActionView(ApiView):
    """Base: an action on one run; the response is the run afterwards."""

    noun = Noun.RUNS
    roles = {"POST": IsOperator}
    without_body = frozenset({"POST"})
    problem_statuses = {"POST": (409,)}

    def answer(self, run_id: str) -> Response:
        return Response(selectors.run_json(self.request.team, run_id), status=status.HTTP_202_ACCEPTED)


class StartView(ActionView):
    @extend_schema(operation_id="startRun", tags=["runs"], request=None, responses={202: RunSerializer})
    @idempotent
    def post(self, request: TeamRequest, run_id: str) -> Response:
        """Queue a draft."""
        services.start_run(request.team, request.actor, run_id)
        return self.answer(run_id)


class PauseView(ActionView):
    @extend_schema(operation_id="pauseRun", tags=["runs"], request=None, responses={202: RunSerializer})
    @idempotent
    def post(self, request: TeamRequest, run_id: str) -> Response:
        """Ask the run to pause after its current step."""
        services.pause_run(request.team, request.actor, run_id)
        return self.answer(run_id)


class ResumeView(ActionView):
    @extend_schema(operation_id="resumeRun", tags=["runs"], request=None, responses={202: RunSerializer})
    @idempotent
    def post(self, request: TeamRequest, run_id: str) -> Response:
        """Let a paused run continue. A suspended or failed one is queued and continues from its last checkpoint."""
        services.resume_run(request.team, request.actor, run_id)
        return self.answer(run_id)


class CancelView(ActionView):
    @extend_schema(operation_id="cancelRun", tags=["runs"], request=None, responses={202: RunSerializer})
    @idempotent
    def post(self, request: TeamRequest, run_id: str) -> Response:
        """Cancel a run permanently."""
        services.cancel_run(request.team, request.actor, run_id)
        return self.answer(run_id)


class ReleaseView(ActionView):
    @extend_schema(operation_id="releaseRun", tags=["runs"], request=None, responses={202: RunSerializer})
    @idempotent
    def post(self, request: TeamRequest, run_id: str) -> Response:
        """Have a paused run save itself and give its slot back now, instead of when its time limit is reached."""
        services.release_place(request.team, request.actor, run_id)
        return self.answer(run_id)


class MeasureNoiseView(ActionView):
    @extend_schema(operation_id="measureRunNoise", tags=["runs"], request=None, responses={202: RunSerializer})
    @idempotent
    def post(self, request: TeamRequest, run_id: str) -> Response:
        """Measure the noise between engine and learner again. This happens when a paused, suspended or failed run
        continues with new engines. First, the weights of the engines are verified against the published ones.
        """
        services.measure_noise(request.team, request.actor, run_id)
        return self.answer(run_id)


class SaveView(ActionView):
    @extend_schema(operation_id="checkpointRun", tags=["runs"], request=None, responses={202: RunSerializer})
    @idempotent
    def post(self, request: TeamRequest, run_id: str) -> Response:
        """Request a checkpoint after the current step."""
        services.request_checkpoint(request.team, request.actor, run_id)
        return self.answer(run_id)


class ForkView(ApiView):
    noun = Noun.RUNS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409,)}

    @extend_schema(operation_id="forkRun", tags=["runs"], request=ForkSerializer, responses={201: RunSerializer})
    @idempotent
    def post(self, request: TeamRequest, run_id: str) -> Response:
        """Create a draft run that starts with the weights of a checkpoint."""
        fields: dict[str, Any] = dict(self.body(ForkSerializer))
        checkpoint = fields.pop("checkpoint", branches.LATEST)
        child = branches.fork_run(request.team, request.actor, run_id, **fields, checkpoint_id=checkpoint)
        return Response(selectors.run_json(request.team, child.id), status=status.HTTP_201_CREATED)
