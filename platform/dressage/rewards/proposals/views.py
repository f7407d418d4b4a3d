"""REST views of proposals."""

from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from dressage.common.api.idempotency import idempotent
from dressage.common.api.paging import page_query
from dressage.common.api.permissions import IsEditor
from dressage.common.api.query import Choice, Text
from dressage.common.scopes import Noun
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

    noun = Noun.REWARDS
    queries = {
        "GET": page_query(
            Choice(name="state", choices=ProposalState.values, description="Only proposals in this state."),
            Text(name="run", longest=40, description="Only proposals of this run."),
        )
    }

    @extend_schema(
        operation_id="listRubricProposals",
        tags=["rewards"],
        responses=RubricProposalSerializer(many=True),
    )
    def get(self, request: TeamRequest, reward_id: str) -> Response:
        """List the items that runs have proposed, newest first."""
        reward = reward_of(request.team, reward_id)
        found = selectors.proposals(reward, self.query["state"] or "", self.query["run"] or "")
        return self.page(found, RubricProposalSerializer)


class AcceptProposalView(ApiView):
    """Acceptance of an item."""

    noun = Noun.REWARDS
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
        """Create the reward's next version: its newest one with the item, edited or not.

        Runs keep the version they use.
        """
        found = selectors.proposal(reward_of(request.team, reward_id), proposal_id)
        edits = self.body(AcceptProposalSerializer)
        note = edits.pop("note")
        proposal, version = services.accept_proposal(found, request.actor, edits=edits, note=note)
        return Response(AcceptedProposalSerializer({"proposal": proposal, "version": version}).data)


class RetireProposalView(ApiView):
    """Rejection of an item."""

    noun = Noun.REWARDS
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
        """Retire an item. If it was accepted, the reward's next version is created without it."""
        found = selectors.proposal(reward_of(request.team, reward_id), proposal_id)
        proposal, version = services.retire_proposal(found, request.actor, **self.body(RetireProposalSerializer))
        return Response(RetiredProposalSerializer({"proposal": proposal, "version": version}).data)
