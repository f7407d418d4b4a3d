"""Queries for policies."""

from pathlib import Path

from django.db.models import QuerySet

from dressage.common.api.problems import not_found
from dressage.policies.folders import ClosedFolder, require_still_open
from dressage.policies.models import Policy
from dressage.teams.models import Team
from trainer_core.planning.policy_size import PolicySize


def policies(team: Team) -> QuerySet[Policy]:
    """The team's policies."""
    return Policy.objects.for_team(team)


def policy(team: Team, policy_id: str) -> Policy:
    """One policy. Raises a 404 problem."""
    found = policies(team).filter(id=policy_id).first()
    if found is None:
        raise not_found("policy")
    return found


def policy_by_name(team: Team, name: str) -> Policy:
    """The policy that a spec names by its slug. Its folder is checked again, since its content may have changed.

    Raises:
        LookupError: the policy cannot be used. The message is written for the author of the spec.
    """
    found = policies(team).select_related("team").filter(slug=name).first() if "\0" not in name else None
    if found is None:
        raise LookupError(f"There is no policy {name!r} in this team.")
    try:
        require_still_open(found)
    except ClosedFolder as error:
        remedy = "Register it again, from a folder or a checkpoint of this team."
        raise LookupError(f"The policy {name!r} is refused: {error}. {remedy}") from error
    return found


def policy_size(policy: Policy) -> PolicySize | None:
    """Size of the policy, which determines its memory; None if its folder is gone or has no such information."""
    try:
        return PolicySize.of(Path(policy.path))
    except (OSError, ValueError):
        return None
