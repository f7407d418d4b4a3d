"""REST views of proposals."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.response import Response

from dressage.common.idempotency import idempotent
from dressage.common.permissions import IsEditor
from dressage.common.problems import invalid
from dressage.rewards.models.proposal import ProposalState
from dressage.rewards.proposals import selectors, services
from dressage.rewards.proposals.serializers import (
    AcceptedProposalSerializer,
    AcceptProposalSerializer,
    RetiredProposalSerializer,
    RetireProposalSerializer,
    RubricProposalSerializer,
)
from dressage.rewards.selectors import reward as reward_of
from dressage.teams.api import ApiView, TeamRequest


class ProposalsView(ApiView):
    """All proposals for a reward's rubrics."""

    @extend_schema(
        operation_id="listRubricProposals",
        tags=["rewards"],
        parameters=[
            OpenApiParameter("state", str, enum=ProposalState.values, description="Only those in this state."),
            OpenApiParameter("run", str, description="Only those of this run."),
        ],
        responses=RubricProposalSerializer(many=True),
    )
    def get(self, request: TeamRequest, reward_id: str) -> Response:
        """Items that runs have proposed, newest first."""
        state = request.query_params.get("state", "")
        if state and state not in ProposalState.values:
            raise invalid("/state", f"state must be one of {', '.join(ProposalState.values)}.")
        found = selectors.proposals(reward_of(request.team, reward_id), state, request.query_params.get("run", ""))
        return self.page(found, RubricProposalSerializer)


class AcceptProposalView(ApiView):
    """The decision for an item."""

    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409,)}

    @extend_schema(
        operation_id="acceptRubricProposal",
        tags=["rewards"],
        request=AcceptProposalSerializer,
        responses=AcceptedProposalSerializer,
    )
    @idempotent
    def post(self, request: TeamRequest, reward_id: str, proposal_id: str) -> Response:
        """Make the reward's next version: its newest one with the item, edited or not. Runs keep what they named."""
        found = selectors.proposal(reward_of(request.team, reward_id), proposal_id)
        edits = self.body(AcceptProposalSerializer)
        note = edits.pop("note")
        proposal, version = services.accept_proposal(found, request.actor, edits=edits, note=note)
        return Response(AcceptedProposalSerializer({"proposal": proposal, "version": version}).data)


class RetireProposalView(ApiView):
    """The decision against an item."""

    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409,)}

    @extend_schema(
        operation_id="retireRubricProposal",
        tags=["rewards"],
        request=RetireProposalSerializer,
        responses=RetiredProposalSerializer,
    )
    @idempotent
    def post(self, request: TeamRequest, reward_id: str, proposal_id: str) -> Response:
        """Put an item away. One that was accepted is left out of the reward's next version."""
        found = selectors.proposal(reward_of(request.team, reward_id), proposal_id)
        proposal, version = services.retire_proposal(found, request.actor, **self.body(RetireProposalSerializer))
        return Response(RetiredProposalSerializer({"proposal": proposal, "version": version}).data)
