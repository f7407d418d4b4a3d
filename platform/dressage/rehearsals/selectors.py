"""Reads of rehearsals."""

from django.db.models import Q, QuerySet

from dressage.common.problems import not_found
from dressage.jobs.models import OPEN
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


def ahead_of(waiting: Rehearsal) -> int:
    """Rehearsals of all teams that come before one that waits for its place; 0 for any other.

    Before one for a chosen cluster come those that are held there, and those that may be.
    """
    if waiting.state not in OPEN or waiting.placed_at is not None:
        return 0
    before = Rehearsal.objects.filter(state__in=OPEN).exclude(pk=waiting.pk)
    if waiting.cluster:
        held = Q(placed_at__isnull=False, placed_on=waiting.cluster)
        before = before.filter(held | Q(placed_at=None, cluster__in=("", waiting.cluster)))
    return before.filter(created_at__lte=waiting.created_at).count()
