"""Slots: how many runs train at the same time per cluster and per team, who holds the slots, and whose turn is next.

A run holds a slot from its start to its end, also while it is paused. Nothing here writes; ``admission`` does.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.conf import settings
from django.db.models import Count, F

from dressage.clusters import selectors as clusters
from dressage.clusters.sizes import ClusterSize
from dressage.runs.facts.gpu_hours import spent_teams
from dressage.runs.models import Attempt, Run, TeamPlaces
from dressage.runs.needs.choice import DEMAND, choose, reservation_in
from dressage.runs.states import ACTIVE, RunState

_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class TeamQueue:
    """The properties of a team's queue that decide who gets the next slot."""

    team_id: str
    held: int
    """Slots that its runs hold."""
    limit: int
    """Slots that it may hold."""
    served_at: datetime | None
    """Time at which it was last given a slot."""
    waiting_since: datetime
    """Time at which its oldest waiting run was queued."""


def next_team(queues: Iterable[TeamQueue]) -> TeamQueue | None:
    """The team that gets a free slot: it holds the fewest, then was served longest ago, then has waited longest.

    The length of a queue does not matter, so a team with a hundred waiting runs is one team among others. A team that
    holds as many slots as it may is skipped. None: no team may have the slot.
    """
    may = [queue for queue in queues if queue.held < queue.limit]
    return min(may, key=lambda q: (q.held, q.served_at or _NEVER, q.waiting_since, q.team_id), default=None)


@dataclass(frozen=True, slots=True)
class Candidate:
    """The first run of a team's queue that could start now, and its cluster."""

    run_id: str
    queued_at: datetime
    cluster: ClusterSize


def sizes() -> list[ClusterSize]:
    """Every cluster with the number of its taken slots."""
    active = Attempt.objects.filter(run__state__in=ACTIVE, number=F("run__attempt"))
    rows = active.order_by().values_list("cluster").annotate(n=Count("*"))
    taken = Counter[str]()
    for name, number in rows.values_list("cluster", "n"):
        taken[clusters.known_as(name)] += number
    return clusters.sizes(taken)


def candidates(found: Sequence[ClusterSize]) -> dict[str, Candidate]:
    """The first waiting run of each team that one of the clusters could start now, by team."""
    waiting = Run.objects.filter(state=RunState.QUEUED).order_by("queued_at", "id")
    columns = ("id", "team_id", "queued_at", "cluster", *DEMAND)
    rows = list(waiting.values_list(*columns))
    spent = spent_teams({row[1] for row in rows}) if any(size.gpus_at_most >= 1 for size in found) else set()
    wanted = Counter(row[3] for row in rows)
    first: dict[str, Candidate] = {}
    for run_id, team_id, queued_at, cluster, *parts in rows:
        if team_id not in first and queued_at is not None:
            demand = reservation_in(*parts)
            choice = choose(demand, cluster, found, hours_spent=team_id in spent, waiting=wanted)
            if choice.cluster is not None:
                first[team_id] = Candidate(run_id, queued_at, choice.cluster)
    return first


def queues(first: dict[str, Candidate], places: int) -> list[TeamQueue]:
    """The queue of every team that has a candidate; ``places`` is the total number of slots."""
    active = Run.objects.filter(team__in=first, state__in=ACTIVE).order_by().values_list("team")
    held = dict(active.annotate(n=Count("*")).values_list("team", "n"))
    settled = {share.team_id: share for share in TeamPlaces.objects.filter(team__in=first)}
    return [
        TeamQueue(
            team_id,
            held.get(team_id, 0),
            team_limit(share.places if share else None, places),
            share.served_at if share else None,
            candidate.queued_at,
        )
        for team_id, candidate in first.items()
        for share in [settled.get(team_id)]
    ]


def team_limit(own: int | None, places: int) -> int:
    """Slots that a team may hold: its own limit, otherwise the one for all teams, but never more than there are."""
    usual = settings.MAX_ACTIVE_RUNS_PER_TEAM
    wanted = own if own is not None else usual if usual is not None else places
    return min(wanted, places)


def places_in_all(found: Iterable[ClusterSize]) -> int:
    """Total number of slots of all clusters."""
    return sum(size.places for size in found)
