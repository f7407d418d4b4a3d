"""REST views of policies."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from dressage.common.api.idempotency import idempotent_for_its_caller
from dressage.common.api.paging import page_query
from dressage.common.api.permissions import IsEditor
from dressage.common.scopes import Noun
from dressage.policies import selectors, services
from dressage.policies.needs import facts_document
from dressage.policies.serializers import PolicyFactsSerializer, PolicySerializer, RegisterPolicySerializer
from dressage.teams.api import ApiView, TeamRequest


class PoliciesView(ApiView):
    """All base policies."""

    noun = Noun.POLICIES
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409, 429, 503)}
    queries = {"GET": page_query()}

    @extend_schema(operation_id="listPolicies", tags=["policies"], responses=PolicySerializer(many=True))
    def get(self, request: TeamRequest) -> Response:
        """List the team's base policies, newest first."""
        return self.page(selectors.policies(request.team), PolicySerializer)

    @extend_schema(
        operation_id="registerPolicy",
        tags=["policies"],
        request=RegisterPolicySerializer,
        responses={201: PolicySerializer},
    )
    @idempotent_for_its_caller
    def post(self, request: TeamRequest) -> Response:
        """Register a local Hugging Face folder with safetensors weights. No code in it is run."""
        policy = services.register_policy(request.team, request.actor, **self.body(RegisterPolicySerializer))
        return Response(PolicySerializer(policy, context={"role": request.role}).data, status=status.HTTP_201_CREATED)


class PolicyView(ApiView):
    """One base policy."""

    noun = Noun.POLICIES

    @extend_schema(operation_id="getPolicy", tags=["policies"], responses=PolicySerializer)
    def get(self, request: TeamRequest, policy_id: str) -> Response:
        """Return a base policy."""
        policy = selectors.policy(request.team, policy_id)
        return Response(PolicySerializer(policy, context={"role": request.role}).data)


class PolicyFactsView(ApiView):
    """What is known about a base policy."""

    noun = Noun.POLICIES

    @extend_schema(operation_id="getPolicyFacts", tags=["policies"], responses=PolicyFactsSerializer)
    def get(self, request: TeamRequest, policy_id: str) -> Response:
        """Return what a policy's files contain, which features of the platform work with it, and its memory needs."""
        return Response(facts_document(selectors.policy(request.team, policy_id)))
