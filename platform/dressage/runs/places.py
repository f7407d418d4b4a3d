"""Places: how many runs train at once, in all and per team, who holds them, and whose turn is next.

A run holds a place from its start to its end, also while it is paused. Nothing here writes; ``admission`` does.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from django.conf import settings
from django.db.models import Count, Min, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from dressage.runs.models import Run, TeamPlaces
from dressage.runs.states import ACTIVE, RunState

_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class TeamQueue:
    """The queue of one team, as far as the next place depends on it."""

    team_id: str
    held: int
    """Places that its runs hold."""
    limit: int
    """Places that it may hold."""
    served_at: datetime | None
    """Time at which it was given its last place."""
    waiting_since: datetime
    """Time at which its oldest waiting run was queued."""


def next_team(queues: Iterable[TeamQueue]) -> TeamQueue | None:
    """The team that a free place goes to: it holds the fewest, then was served the longest ago, then waits longest.

    The length of a queue counts for nothing, so a team with a hundred waiting runs is one team among others. A team
    that holds as many places as it may is passed over. None: nobody may have the place.
    """
    may = [queue for queue in queues if queue.held < queue.limit]
    return min(may, key=lambda q: (q.held, q.served_at or _NEVER, q.waiting_since, q.team_id), default=None)


def taken() -> int:
    """Places that are taken, by all teams."""
    return Run.objects.filter(state__in=ACTIVE).count()


def queues() -> list[TeamQueue]:
    """Every team of which a run waits."""
    held = Run.objects.filter(team=OuterRef("team"), state__in=ACTIVE).order_by().values("team").annotate(n=Count("*"))
    settled = TeamPlaces.objects.filter(team=OuterRef("team"))
    waiting = Run.objects.filter(state=RunState.QUEUED).order_by().values("team_id")
    rows = waiting.annotate(
        since=Min("queued_at"),
        held=Coalesce(Subquery(held.values("n")), 0),
        own_limit=Subquery(settled.values("places")),
        served_at=Subquery(settled.values("served_at")),
    )
    return [
        TeamQueue(row["team_id"], row["held"], team_limit(row["own_limit"]), row["served_at"], row["since"])
        for row in rows
    ]


def team_limit(own: int | None) -> int:
    """Places that a team may hold: its own number, else that of all teams, never more than there are."""
    usual = settings.MAX_ACTIVE_RUNS_PER_TEAM
    wanted = own if own is not None else usual if usual is not None else settings.MAX_ACTIVE_RUNS
    return min(wanted, settings.MAX_ACTIVE_RUNS)


def waiting_runs(team_id: str) -> QuerySet[Run]:
    """The team's queue, in its order."""
    return Run.objects.filter(team_id=team_id, state=RunState.QUEUED).order_by("queued_at", "id")
