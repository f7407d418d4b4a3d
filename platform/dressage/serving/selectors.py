"""Reads of served policies."""

from django.db.models import QuerySet

from dressage.common.api.problems import not_found
from dressage.serving.models import Serving
from dressage.teams.models import Team


def servings(team: Team) -> QuerySet[Serving]:
    """The policies that the team serves or has served, without what its jobs had served for themselves."""
    return Serving.objects.for_team(team).filter(policy__isnull=False).select_related("policy")


def serving(team: Team, serving_id: str) -> Serving:
    """One of them. Raises a 404 problem."""
    found = servings(team).filter(id=serving_id).first()
    if found is None:
        raise not_found("serving")
    return found
