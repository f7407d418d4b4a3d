"""Queries for saved views."""

from django.db.models import Q, QuerySet

from dressage.chart_views.models import ChartView
from dressage.common.actors import Actor
from dressage.common.api.problems import not_found
from dressage.teams.models import Team


def chart_views(team: Team, actor: Actor) -> QuerySet[ChartView]:
    """Views that belong to the actor or are shared in the team; other people's private views are never returned."""
    return ChartView.objects.for_team(team).filter(Q(shared=True) | Q(owner=actor.id))


def chart_view(team: Team, actor: Actor, view_id: str) -> ChartView:
    """One view. Raises a 404 problem."""
    found = chart_views(team, actor).filter(id=view_id).first()
    if found is None:
        raise not_found("view")
    return found
