"""The effect of a control on the run."""

from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from dressage.common.scopes import Noun
from dressage.runs.facts import selectors
from dressage.runs.steer.effect_serializers import ControlEffectSerializer
from dressage.runs.steer.effects import control_effect
from dressage.teams.api import ApiView, TeamRequest


class ControlEffectView(ApiView):
    noun = Noun.RUNS

    @extend_schema(operation_id="getControlEffect", tags=["controls"], responses=ControlEffectSerializer)
    def get(self, request: TeamRequest, run_id: str, control_id: str) -> Response:
        """The run's metrics before and after a control and its change set, with effects separated from noise."""
        run = selectors.plain_run(request.team, run_id)
        return Response(control_effect(run, selectors.control(run, control_id)))
