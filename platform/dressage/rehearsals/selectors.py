"""Reads of rehearsals."""

from django.db.models import QuerySet

from dressage.common.api.problems import not_found
from dressage.rehearsals.models import Rehearsal
from dressage.teams.models import Team


def rehearsals(team: Team) -> QuerySet[Rehearsal]:
    """The team's rehearsals without their large columns."""
    return Rehearsal.objects.for_team(team).defer("report")


def rehearsal(team: Team, rehearsal_id: str) -> Rehearsal:
    """One rehearsal. Raises a 404 problem."""
    found = Rehearsal.objects.for_team(team).filter(id=rehearsal_id).first()
    if found is None:
        raise not_found("rehearsal")
    return found
