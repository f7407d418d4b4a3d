"""Time and cost of a run before it starts."""

from dataclasses import asdict

from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from dressage.common.permissions import IsViewer
from dressage.common.problems import invalid
from dressage.common.scopes import Noun
from dressage.runs import planning
from dressage.runs.models import Run
from dressage.runs.plan_serializers import PlanRequestSerializer, PlanSerializer
from dressage.teams.api import ApiView, TeamRequest
from trainer_core.planning import PlanError, plan


class PlanView(ApiView):
    noun = Noun.RUNS
    roles = {"POST": IsViewer}
    problem_statuses = {"POST": (404,)}

    @extend_schema(operation_id="planSpec", tags=["spec"], request=PlanRequestSerializer, responses=PlanSerializer)
    def post(self, request: TeamRequest) -> Response:
        """Predict step time, idle shares and cost of a spec, and the best split of its GPUs in each mode."""
        body = self.body(PlanRequestSerializer)
        spec, run = body["spec"], None
        if "rates" in body:
            if "run" in body:
                raise invalid("/run", "Give either rates or a run, not both.")
            rates = body["rates"]
        else:
            run, rates = self._measured(body.get("run"), spec.policy.base)
        try:
            found = plan(spec, body["gpus"], rates, price=body.get("price"))
        except PlanError as error:
            raise invalid("/gpus" if "GPU" in str(error) else "/spec/rollout/max_tokens", str(error)) from error
        return Response({**asdict(found), "run": None if run is None else run.id})

    def _measured(self, run_id: str | None, policy: str) -> tuple[Run, planning.Rates]:
        team = self.request.team
        return planning.rates_for_policy(team, policy) if run_id is None else planning.rates_of_run(team, run_id)
