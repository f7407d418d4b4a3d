"""Queries for rewards."""

from django.db.models import Prefetch, QuerySet

from dressage.common.api.problems import not_found
from dressage.common.refs import parse_ref
from dressage.rewards.models import Reward, RewardVersion
from dressage.teams.models import Team


def rewards(team: Team) -> QuerySet[Reward]:
    """The team's rewards with their versions, oldest version first."""
    versions = RewardVersion.objects.order_by("number")
    return Reward.objects.for_team(team).prefetch_related(Prefetch("versions", queryset=versions))


def reward(team: Team, reward_id: str) -> Reward:
    """One reward. Raises a 404 problem."""
    found = rewards(team).filter(id=reward_id).first()
    if found is None:
        raise not_found("reward")
    return found


def version_by_ref(team: Team, ref: str) -> RewardVersion:
    """The version that a spec names as ``slug@number``.

    Raises:
        LookupError: the version does not exist. The message is written for the author of the spec.
    """
    try:
        slug, number = parse_ref(ref)
    except ValueError as error:
        raise LookupError(str(error)) from error
    versions = RewardVersion.objects.for_team(team).select_related("reward")
    found = versions.filter(reward__slug=slug, number=number).first()
    if found is None:
        raise LookupError(f"There is no reward version {ref} in this team.")
    return found
