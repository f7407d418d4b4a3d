"""Reservation of the queue: what each cluster must be able to hold, for its autoscaler.

It is empty if no run trains or waits.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import timedelta

from django.db.models import F
from django.db.models.functions import Now

from dressage.clusters.models import Cluster
from dressage.clusters.selectors import known_as
from dressage.clusters.services import note_question
from dressage.clusters.sizes import ClusterSize
from dressage.runs.enqueue import enqueue_measure
from dressage.runs.facts.gpu_hours import spent_teams
from dressage.runs.facts.places import sizes
from dressage.runs.models import Attempt, Run
from dressage.runs.needs.choice import DEMAND, choose, reservation_in
from dressage.runs.states import ACTIVE, RunState
from trainer_core.link.cluster import ResourceBundle
from trainer_core.planning.reservation import Reservation, ReservedShape

ASK_EVERY_S = 10
"""Seconds between two questions for a cluster's size while its worker answers."""
ASK_SILENT_EVERY_S = 60
"""Seconds between two questions to a cluster whose worker does not answer, because they pile up in its queue."""


def ask_clusters() -> None:
    """Ask every cluster whose last answer is old or whose demand has changed, and pass on the demand."""
    found = sizes()
    wanted = demand_by_cluster(found)
    rows = Cluster.objects.annotate(
        old=Now() - timedelta(seconds=ASK_EVERY_S), older=Now() - timedelta(seconds=ASK_SILENT_EVERY_S)
    )
    known = {row.name: row for row in rows}
    for size in found:
        row, demand = known.get(size.name), wanted.get(size.name, ())
        told = [bundle.model_dump(mode="json") for bundle in demand]
        if row is not None and row.asked_at is not None and row.demand == told:
            answers = row.answered_at is not None and row.answered_at >= row.asked_at
            if row.asked_at > (row.old if answers else row.older):
                continue
        note_question(size.name, demand)
        enqueue_measure(size.name, demand)


def demand_by_cluster(found: Sequence[ClusterSize]) -> dict[str, tuple[ResourceBundle, ...]]:
    """Demand by cluster: the reservations of its active runs, and of the runs that are next for a free slot.

    The total never exceeds what the cluster may hold: an autoscaler that is asked for more adds nothing at all.
    """
    by_name = {size.name: size for size in found}
    wanted: dict[str, list[Reservation]] = defaultdict(list)
    active = Attempt.objects.filter(run__state__in=ACTIVE, number=F("run__attempt")).order_by("created_at", "id")
    for name, *parts in active.values_list("cluster", *(f"run__{part}" for part in DEMAND)):
        if known_as(name) in by_name:
            wanted[known_as(name)].append(reservation_in(*parts))
    for name, demand in _next(found):
        wanted[name].append(demand)
    return {name: tuple(_bundles(_held_together(demands, by_name[name]))) for name, demands in wanted.items()}


def _next(found: Sequence[ClusterSize]) -> list[tuple[str, Reservation]]:
    """(cluster, demand) of the waiting runs that would get the free slots once their clusters have grown."""
    waiting = Run.objects.filter(state=RunState.QUEUED).order_by("queued_at", "id")
    free = {size.name: size.free for size in found}
    if not any(free.values()):
        return []
    rows = list(waiting.values_list("team_id", "cluster", *DEMAND))
    spent = spent_teams({row[0] for row in rows})
    chosen: list[tuple[str, Reservation]] = []
    for team_id, wanted, *parts in rows:
        demand = reservation_in(*parts)
        open_ = [size for size in found if free[size.name]]
        choice = choose(demand, wanted, open_, hours_spent=team_id in spent)
        options = [choice.cluster] if choice.cluster else choice.among if choice.obstacle == "cluster_grows" else ()
        if options:
            name = options[0].name
            free[name] -= 1
            chosen.append((name, demand))
    return chosen


def _held_together(demands: Sequence[Reservation], size: ClusterSize) -> Counter[tuple[float, float]]:
    """Shapes of the runs that fit together, at least the first one, and then of their optional engines."""
    counter, gpus = Counter[tuple[float, float]](), size.gpus_at_most
    chosen: list[Reservation] = []
    cpus_left, gpus_left = (size.cpus_at_most, gpus) if size.is_known else (math.inf, math.inf)

    def take(shapes: Sequence[ReservedShape]) -> None:
        nonlocal cpus_left, gpus_left
        for shape in shapes:
            counter[shape.cpus, shape.gpus] += shape.count
            cpus_left -= shape.cpus * shape.count
            gpus_left -= shape.gpus * shape.count

    for demand in demands:
        shapes = demand.shapes(gpus)
        needed = sum(shape.gpus * shape.count for shape in shapes)
        if not chosen or (demand.cpus <= cpus_left and needed <= gpus_left + 1e-9):
            take(shapes)
            chosen.append(demand)
    for demand in chosen:
        take([demand.further(gpus, cpus_left, gpus_left)])
    return counter


def _bundles(shapes: Counter[tuple[float, float]]) -> list[ResourceBundle]:
    return [
        ResourceBundle(cpus=cpus, gpus=gpus, count=count) for (cpus, gpus), count in sorted(shapes.items()) if count
    ]
