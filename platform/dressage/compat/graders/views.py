"""OpenAI's ``graders.validate`` and ``graders.run``."""

from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from dressage.common.api.permissions import IsEditor, IsViewer
from dressage.common.scopes import Noun
from dressage.compat.graders.reading import read_grader
from dressage.compat.graders.response import run_response
from dressage.compat.graders.running import run_grader
from dressage.compat.graders.serializers import GraderRunSerializer, RunGraderSerializer, ValidateGraderSerializer
from dressage.rewards import needs
from dressage.rewards.judges.selectors import judge_endpoints
from dressage.teams.api import ApiView, TeamRequest


class ValidateGraderView(ApiView):
    """A grader's form."""

    noun = Noun.REWARDS
    roles = {"POST": IsViewer}

    @extend_schema(
        operation_id="validateGrader",
        tags=["compat"],
        request=ValidateGraderSerializer,
        responses=ValidateGraderSerializer,
    )
    def post(self, request: TeamRequest) -> Response:
        """Check that a grader can be run in this team. Returns the grader; a 422 names each fault."""
        document = self.body(ValidateGraderSerializer)["grader"]
        read_grader(request.team, document)
        return Response({"grader": document})


class RunGraderView(ApiView):
    """A run of a grader."""

    noun = Noun.REWARDS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (429, 503)}

    @extend_schema(
        operation_id="runGrader", tags=["compat"], request=RunGraderSerializer, responses=GraderRunSerializer
    )
    def post(self, request: TeamRequest) -> Response:
        """Grade one sample. Graders that need a jail or a judge run on the cluster; the request waits up to 60 s."""
        fields = self.body(RunGraderSerializer)
        grader = read_grader(request.team, fields["grader"])
        text = fields["model_sample"]
        ran = run_grader(request.team, request.actor, grader, text, fields.get("item", {}))
        slugs = [slug for _, slug in needs.named_endpoints(grader)]
        models = dict(judge_endpoints(request.team).filter(slug__in=slugs).values_list("slug", "model"))
        return Response(run_response(grader, ran, text, models))
