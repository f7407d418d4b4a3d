"""Sizes: what a cluster has now, how far it may grow, and whether a run fits."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from trainer_core.link.cluster import ClusterReport
from trainer_core.planning.reservation import Reservation

DEVICES = "rollout.engine.tensor_parallel_size times pipeline_parallel_size"
"""Members of a spec whose product is the number of devices of one engine."""


@dataclass(frozen=True, slots=True)
class ClusterSize:
    """The properties of a cluster that decide whether a run can start on it."""

    name: str
    places: int
    """Runs that may train on it at the same time."""
    taken: int = 0
    """Runs that hold a slot on it."""
    report: ClusterReport | None = None
    """The last report of its worker; None: no report yet."""
    most_cpus: float | None = None
    most_gpus: float | None = None
    """Limits up to which its autoscaler may let it grow; both None: it does not grow. CPUs come with GPUs, in an
    unknown number unless it was set. GPUs are only added if their number was set."""
    away: bool = False
    """Whether its worker has been silent for some time, or reports that it cannot reach its Ray."""

    @property
    def free(self) -> int:
        """Slots that are free."""
        return max(0, self.places - self.taken)

    @property
    def grows(self) -> bool:
        return self.most_cpus is not None or self.most_gpus is not None

    @property
    def cpus_at_most(self) -> float:
        """CPUs that it has or may grow to; infinite if GPUs may come with an unknown number of CPUs."""
        if self.most_cpus is None and self.most_gpus:
            return math.inf
        return max(self.report.cpus if self.report else 0.0, self.most_cpus or 0.0)

    @property
    def gpus_at_most(self) -> float:
        """GPUs that it has or may grow to."""
        return max(self.report.gpu_count if self.report else 0.0, self.most_gpus or 0.0)

    @property
    def amount_at_most(self) -> str:
        """Amount that it has or may grow to, as text."""
        parts = [f"{self.cpus_at_most:g} CPUs"] if math.isfinite(self.cpus_at_most) else []
        parts += [f"{self.gpus_at_most:g} GPUs"] if self.gpus_at_most >= 1 else []
        return " and ".join(parts)

    @property
    def is_told(self) -> bool:
        """Whether its worker has reported a size. A Ray whose first node has not started yet has none."""
        return self.report is not None and self.report.nodes > 0

    @property
    def is_known(self) -> bool:
        """Whether anything is known about its size; if not, everything is assumed to fit."""
        return self.is_told or self.grows

    def never_holds(self, demand: Reservation) -> bool:
        """Whether a run could never start on it, however far it grows."""
        return self.is_known and not self._holds(demand, self.cpus_at_most, self.gpus_at_most, demand.least_gpus)

    def holds_now(self, demand: Reservation) -> bool:
        """Whether a run can start on its current nodes. If it has GPUs, with as many as the run can ever get on it."""
        if self.report is None or not self.is_known:
            return not self.grows
        hoped = min(demand.gpus, self.gpus_at_most)
        return self._holds(demand, self.report.cpus, self.report.gpu_count, hoped)

    def _holds(self, demand: Reservation, cpus: float, gpus: float, least_gpus: float) -> bool:
        return demand.cpus <= cpus and (self.gpus_at_most < 1 or gpus >= least_gpus)

    def has_idle_gpus(self, count: int) -> bool:
        """Whether at least ``count`` of its GPUs are free; on a cluster without GPUs none are needed."""
        free = sum(kind.free for kind in self.report.gpus) if self.report else 0.0
        return self.gpus_at_most < 1 or free >= count

    def gpus_held(self, demand: Reservation) -> float:
        """GPUs that a run reserves on it."""
        return demand.gpus_held(self.report.gpu_count if self.report else 0.0)


def size_of(name: str, row: Mapping[str, Any] | None, taken: int) -> ClusterSize:
    """The size of a cluster from the columns of its row; None: there is no row yet."""
    row = row or {}
    report = row.get("report")
    places = row.get("places")
    return ClusterSize(
        name=name,
        places=settings.MAX_ACTIVE_RUNS if places is None else places,
        taken=taken,
        report=None if report is None else ClusterReport.model_validate(report),
        most_cpus=row.get("most_cpus"),
        most_gpus=row.get("most_gpus"),
        away=bool(row.get("away")),
    )


def too_large(demand: Reservation, sizes: list[ClusterSize]) -> str | None:
    """The message for a run that none of these clusters can ever hold; None if one can."""
    if not sizes or not all(size.never_holds(demand) for size in sizes):
        return None
    largest = max(sizes, key=lambda size: (size.gpus_at_most, size.cpus_at_most))
    gpus = largest.gpus_at_most
    needs = f"{demand.cpus:g} CPUs"
    if gpus >= 1:
        needs += f" and {demand.least_gpus} GPU{'s' if demand.least_gpus > 1 else ''}"
    which = f"the cluster {largest.name!r}" if len(sizes) == 1 else f"the largest cluster, {largest.name!r},"
    amount = largest.amount_at_most
    has = "may grow to" if largest.grows else "has"
    remedy = "" if largest.grows else " If it can grow, the operator must set this with 'manage.py clusters'."
    engines, fewer = "engines and learner ranks", "fewer rollout workers or learner ranks"
    if not demand.engines:
        engines, fewer = "learner ranks", "fewer of them (parallelism.learner_ranks)"
    elif demand.devices > 1:
        engines = f"engines of {demand.devices} devices each and learner ranks"
        fewer = f"fewer rollout workers, learner ranks or devices for each engine ({DEVICES})"
    return f"The run needs {needs} for its {engines}; {which} {has} {amount}. Use {fewer}.{remedy}"
