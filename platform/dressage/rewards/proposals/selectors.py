"""Queries for proposals."""

from django.db.models import QuerySet

from dressage.common.api.problems import not_found
from dressage.rewards.models import Reward, RubricProposal


def proposals(reward: Reward, state: str = "", run: str = "") -> QuerySet[RubricProposal]:
    """The reward's proposals, optionally only those in a state or of a run."""
    found = RubricProposal.objects.filter(reward=reward)
    found = found.select_related("reward_version__reward", "accepted_version__reward", "run")
    if state:
        found = found.filter(state=state)
    return found.filter(run_id=run) if run else found


def proposal(reward: Reward, proposal_id: str) -> RubricProposal:
    """One proposal of the reward. Raises a 404 problem."""
    found = proposals(reward).filter(id=proposal_id).first()
    if found is None:
        raise not_found("proposal")
    return found
