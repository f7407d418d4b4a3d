"""ClusterChoice: the cluster that a waiting run goes to, or why it goes to none yet.

Nothing is read from the database here, so that admission and the stated reason of a wait agree.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from dressage.clusters.sizes import ClusterSize
from dressage.runs.needs.objective import kind_of
from trainer_core.planning.reservation import Reservation
from trainer_core.spec.generation.rollout import Engine
from trainer_core.spec.learner.parallelism import Parallelism

Obstacle = Literal["cluster_gone", "too_large", "gpu_hours", "places_taken", "cluster_grows"]
"""The obstacle to a run's start: the chosen cluster is no longer part of the installation; no cluster can hold the run;
its team's GPU hours are used up; no slot is free; or a slot is free, but the cluster must first grow."""


@dataclass(frozen=True, slots=True)
class ClusterChoice:
    """Outcome for one waiting run."""

    cluster: ClusterSize | None
    obstacle: Obstacle | None
    among: tuple[ClusterSize, ...]
    """The clusters that the obstacle concerns."""


DEMAND = ("spec__parallelism", "spec__rollout__engine", "spec__objective__type")
"""Look-ups of the parts of a stored spec that ``reservation_in`` reads."""


def reservation_in(parallelism: Any, engine: Any, objective: str | None) -> Reservation:
    """The demand of a spec's stored parts, in the order of ``DEMAND``; None is a part that the spec does not have."""
    samples = objective in (None, "rl")
    return Reservation.of(
        Parallelism.model_validate(parallelism or {}), Engine.model_validate(engine or {}) if samples else None
    )


def reservation_of(spec: Mapping[str, Any]) -> Reservation:
    """The demand of a stored spec."""
    return reservation_in(spec.get("parallelism"), (spec.get("rollout") or {}).get("engine"), kind_of(spec))


def choose(
    demand: Reservation,
    wanted: str,
    sizes: Sequence[ClusterSize],
    *,
    hours_spent: bool = False,
    waiting: Mapping[str, int] | None = None,
) -> ClusterChoice:
    """The cluster on which a run can start now.

    Args:
        demand: the run's reservation.
        wanted: the cluster that people chose; empty for any.
        sizes: all clusters.
        hours_spent: whether its team has used up its GPU hours: then only clusters without GPUs are left.
        waiting: number of runs that wait for each cluster, by name. Among several suitable clusters, those that are
            away come last. The choice then prefers the fewest waiting runs, then the most free slots, then the first in
            order.
    """
    left = tuple(size for size in sizes if wanted in ("", size.name))
    steps: tuple[tuple[Obstacle, list[ClusterSize]], ...]
    able = [size for size in left if not size.never_holds(demand)]
    paid = [size for size in able if not (hours_spent and size.gpus_at_most >= 1)]
    free = [size for size in paid if size.free]
    ready = [size for size in free if size.holds_now(demand)]
    if not left:
        return ClusterChoice(None, "cluster_gone", ())
    steps = (("too_large", able), ("gpu_hours", paid), ("places_taken", free), ("cluster_grows", ready))
    for obstacle, passed in steps:
        if not passed:
            return ClusterChoice(None, obstacle, left)
        left = tuple(passed)
    counts = waiting or {}
    return ClusterChoice(min(ready, key=lambda size: (size.away, counts.get(size.name, 0), -size.free)), None, left)
