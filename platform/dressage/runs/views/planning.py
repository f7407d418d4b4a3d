"""Time and cost of a run before it starts."""

from dataclasses import asdict

from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from dressage.common.api.permissions import IsViewer
from dressage.common.api.problems import invalid
from dressage.common.scopes import Noun
from dressage.runs.models import Run
from dressage.runs.needs import objective
from dressage.runs.preview import planning
from dressage.runs.preview.plan_serializers import (
    ClusterPlanDocument,
    ClusterPlanRequestSerializer,
    ClusterPlanSerializer,
    PlanRequestSerializer,
    PlanSerializer,
)
from dressage.teams.api import ApiView, TeamRequest
from trainer_core.planning import PlanError, plan
from trainer_core.planning.cluster import estimate
from trainer_core.planning.lengths import strata


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


class ClusterPlanView(ApiView):
    noun = Noun.RUNS
    roles = {"POST": IsViewer}

    @extend_schema(
        operation_id="planSpecOnClusters",
        tags=["spec"],
        request=ClusterPlanRequestSerializer,
        responses=ClusterPlanSerializer,
    )
    def post(self, request: TeamRequest) -> Response:
        """Predict a spec on clusters of several sizes: step time, GPU utilization, GPU hours and cost of 1,000 steps.
        If the run does not fit a size, its estimate says so in a sentence."""
        body = self.body(ClusterPlanRequestSerializer)
        spec = body["spec"]
        objective.require_samples(spec, "The plan for clusters of several sizes")
        scale = planning.scale_of(request.team, spec.policy.base)
        tokens = planning.tokens_of(request.team, spec, body.get("prompt_tokens"), body.get("median_tokens"))
        try:
            found = estimate(
                spec,
                scale,
                body["gpu"],
                body["gpus"],
                prompt_tokens=tokens.prompt_tokens,
                lengths=tokens.lengths,
                price=body.get("price"),
            )
        except PlanError as error:
            raise invalid("/gpus", str(error)) from error
        lengths = strata(tokens.lengths, 64, spec.rollout.max_tokens)
        document = ClusterPlanDocument(
            gpu=body["gpu"],
            parameters=scale.parameters,
            prompt_tokens=tokens.prompt_tokens,
            mean_tokens=sum(lengths) / len(lengths),
            tokens_source=tokens.source,
            estimates=found,
        )
        return Response(ClusterPlanSerializer(document).data)
