"""Places: how many runs train at once, on each cluster and per team, who holds them, and whose turn is next.

A run holds a place from its start to its end, also while it is paused. Nothing here writes; ``admission`` does.
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
from dressage.runs.needs.choice import choose, reservation_in
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


@dataclass(frozen=True, slots=True)
class Candidate:
    """The first run of a team's queue that could begin now, and where."""

    run_id: str
    queued_at: datetime
    cluster: ClusterSize


def sizes() -> list[ClusterSize]:
    """Every cluster with the places that are taken on it."""
    active = Attempt.objects.filter(run__state__in=ACTIVE, number=F("run__attempt"))
    rows = active.order_by().values_list("cluster").annotate(n=Count("*"))
    taken = Counter[str]()
    for name, number in rows.values_list("cluster", "n"):
        taken[clusters.known_as(name)] += number
    return clusters.sizes(taken)


def candidates(found: Sequence[ClusterSize]) -> dict[str, Candidate]:
    """The first waiting run of each team that one of the clusters could begin now, by team."""
    waiting = Run.objects.filter(state=RunState.QUEUED).order_by("queued_at", "id")
    columns = ("id", "team_id", "queued_at", "cluster", "spec__parallelism", "spec__rollout__engine")
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
    """The queue of every team that has a candidate; ``places`` is the number of places in all."""
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
    """Places that a team may hold: its own number, else that of all teams, never more than there are."""
    usual = settings.MAX_ACTIVE_RUNS_PER_TEAM
    wanted = own if own is not None else usual if usual is not None else places
    return min(wanted, places)


def places_in_all(found: Iterable[ClusterSize]) -> int:
    """Places of all clusters together."""
    return sum(size.places for size in found)
