"""Queries for imports."""

from django.db.models import QuerySet

from dressage.common.api.problems import not_found
from dressage.policies.models import PolicyImport
from dressage.teams.models import Team


def imports(team: Team) -> QuerySet[PolicyImport]:
    """The team's imports."""
    return PolicyImport.objects.for_team(team)


def policy_import(team: Team, import_id: str) -> PolicyImport:
    """One import. Raises a 404 problem."""
    found = imports(team).filter(id=import_id).first()
    if found is None:
        raise not_found("policy import")
    return found
