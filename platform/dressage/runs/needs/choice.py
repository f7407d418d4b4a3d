"""ClusterChoice: which cluster a waiting run goes to, or why it goes to none yet.

Nothing is read here, so that admission and the reason of a wait agree.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from dressage.clusters.sizes import ClusterSize
from trainer_core.planning.reservation import Reservation
from trainer_core.spec.generation.rollout import Engine
from trainer_core.spec.learner.parallelism import Parallelism

Obstacle = Literal["cluster_gone", "too_large", "gpu_hours", "places_taken", "cluster_grows"]
"""What keeps a run from beginning: the cluster that was chosen is no longer of the installation; no cluster can hold
it; its team's GPU hours are used up; no place is free; or a place is, and the cluster has yet to grow."""


@dataclass(frozen=True, slots=True)
class ClusterChoice:
    """Outcome for one waiting run."""

    cluster: ClusterSize | None
    obstacle: Obstacle | None
    among: tuple[ClusterSize, ...]
    """The clusters that the obstacle concerns."""


def reservation_in(parallelism: Any, engine: Any) -> Reservation:
    """The demand of a spec's ``parallelism`` and ``rollout.engine``, as they are stored; None is a spec without one."""
    return Reservation.of(Parallelism.model_validate(parallelism or {}), Engine.model_validate(engine or {}))


def reservation_of(spec: Mapping[str, Any]) -> Reservation:
    """The demand of a spec, as it is stored."""
    return reservation_in(spec.get("parallelism"), (spec.get("rollout") or {}).get("engine"))


def choose(
    demand: Reservation,
    wanted: str,
    sizes: Sequence[ClusterSize],
    *,
    hours_spent: bool = False,
    waiting: Mapping[str, int] | None = None,
) -> ClusterChoice:
    """The cluster on which a run begins now.

    Args:
        demand: what it reserves.
        wanted: the cluster that people chose; empty for any.
        sizes: all clusters.
        hours_spent: whether its team has used its GPU hours up: then only clusters without GPUs are left.
        waiting: runs that wait for each cluster by name. Of several clusters that would do, the one with the fewest of
            them is taken, then the one with the most free places, then the first; one that is away comes last.
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
