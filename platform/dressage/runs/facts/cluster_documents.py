"""The JSON documents of clusters and of a team's GPU hours."""

from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from typing import Literal

from django.db.models import F
from django.utils import timezone
from typing_extensions import TypedDict

from dressage.clusters.models import Cluster
from dressage.clusters.selectors import SILENT_S, known_as
from dressage.clusters.sizes import ClusterSize
from dressage.common.openapi.document_schema import Moment
from dressage.common.times import iso
from dressage.runs.facts.gpu_hours import hours_of, hours_of_runs
from dressage.runs.facts.places import sizes
from dressage.runs.facts.waiting import HolderDocument
from dressage.runs.models import Attempt, Run
from dressage.runs.states import ACTIVE, RunState
from dressage.teams.models import Team

MOST_RUNS = 20
"""Maximum number of runs in the list of GPU hours."""


class GpuDocument(TypedDict):
    """GPUs of one kind."""

    kind: str
    """Name that Ray reports for it; GPU if Ray reports none."""
    total: float
    free: float


class ClusterDocument(TypedDict):
    """A cluster that runs train on."""

    name: str
    state: Literal["up", "silent", "unknown", "fault"]
    """``up``: reports a size; ``silent``: no recent message; ``unknown``: no message ever; ``fault``: cannot report."""
    fault: str | None
    """The reason its worker cannot report its size; null otherwise."""
    last_seen: Moment | None
    """Time of the last report of its size."""
    ray_version: str | None
    nodes: int
    cpus: float
    cpus_free: float
    gpus: list[GpuDocument]
    memory_bytes: float
    memory_free_bytes: float
    cpus_at_most: float | None
    """CPUs to which it may grow; null if it does not grow."""
    gpus_at_most: float | None
    """GPUs to which it may grow; null if it does not grow."""
    places: int
    """Runs, of all teams, that may train on it at the same time."""
    places_free: int
    own: list[HolderDocument]
    """The team's runs that hold a slot on it."""
    others: int
    """Number of slots that other teams hold."""
    waiting: int
    """Runs, of all teams, that wait only for this cluster."""


class RunGpuHoursDocument(TypedDict):
    """GPU hours of one run in this month."""

    run: str
    name: str
    hours: float


class GpuHoursDocument(TypedDict):
    """A team's GPU hours of this month: the GPUs that its runs reserve, multiplied by the time for which they hold
    them. CPUs do not count."""

    month: str
    """The month in UTC, such as 2026-11."""
    used: float
    limit: float | None
    """Null: no limit."""
    percent: float | None
    """Used share of the limit; null without a limit."""
    resets_at: Moment
    """Start of the next month."""
    runs: list[RunGpuHoursDocument]
    """The runs that used the most, largest first."""


def clusters(team: Team) -> list[ClusterDocument]:
    """Every cluster, as shown to members of the team."""
    rows = {row.name: row for row in Cluster.objects.all()}
    own = _own(team)
    waiting = Counter(Run.objects.filter(state=RunState.QUEUED).exclude(cluster="").values_list("cluster", flat=True))
    now = timezone.now()
    return [_document(size, rows.get(size.name), own[size.name], waiting[size.name], now) for size in sizes()]


def gpu_hours(team: Team) -> GpuHoursDocument:
    """The team's GPU hours of this month."""
    hours = hours_of([team.id])[team.id]
    first = datetime(hours.month.year, hours.month.month, 1, tzinfo=UTC)
    return {
        "month": f"{hours.month:%Y-%m}",
        "used": hours.used,
        "limit": hours.limit,
        "percent": None if hours.limit is None else hours.percent,
        "resets_at": iso((first + timedelta(days=32)).replace(day=1)),
        "runs": [{"run": run_id, "name": name, "hours": used} for run_id, name, used in hours_of_runs(team, MOST_RUNS)],
    }


def _own(team: Team) -> dict[str, list[HolderDocument]]:
    attempts = Attempt.objects.filter(run__team=team, run__state__in=ACTIVE, number=F("run__attempt"))
    found: dict[str, list[HolderDocument]] = defaultdict(list)
    rows = attempts.order_by("run__started_at", "run_id").values_list("cluster", "run_id", "run__name", "run__state")
    for cluster, run_id, name, state in rows:
        found[known_as(cluster)].append({"id": run_id, "name": name, "state": state})
    return found


def _document(
    size: ClusterSize, row: Cluster | None, own: list[HolderDocument], waiting: int, now: datetime
) -> ClusterDocument:
    report = size.report
    return {
        "name": size.name,
        "state": _state(row, now),
        "fault": (row.fault or None) if row else None,
        "last_seen": iso(row.reported_at) if row and row.reported_at else None,
        "ray_version": report.ray_version if report else None,
        "nodes": report.nodes if report else 0,
        "cpus": report.cpus if report else 0.0,
        "cpus_free": report.cpus_free if report else 0.0,
        "gpus": [{"kind": gpu.kind, "total": gpu.total, "free": gpu.free} for gpu in report.gpus] if report else [],
        "memory_bytes": report.memory_bytes if report else 0.0,
        "memory_free_bytes": report.memory_free_bytes if report else 0.0,
        "cpus_at_most": size.most_cpus,
        "gpus_at_most": size.most_gpus,
        "places": size.places,
        "places_free": size.free,
        "own": own,
        "others": size.taken - len(own),
        "waiting": waiting,
    }


def _state(row: Cluster | None, now: datetime) -> Literal["up", "silent", "unknown", "fault"]:
    if row is None or row.answered_at is None:
        return "unknown"
    if (now - row.answered_at).total_seconds() > SILENT_S:
        return "silent"
    return "fault" if row.fault else "up"
