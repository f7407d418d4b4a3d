"""GPU hours: what a team has used of them in this month, and how many it may use.

Each attempt counts the GPUs that it reserves times the time for which it holds them: from its worker's first sync to
its end, and never beyond its last lease. Months are those of UTC. CPUs do not count.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime

from django.conf import settings
from django.db.models import DurationField, Expression, ExpressionWrapper, F, FloatField, Func, OuterRef, QuerySet, Sum
from django.db.models.functions import Coalesce, Greatest, Least, Now, TruncMonth

from dressage.runs.models import Attempt, TeamGpuHours
from dressage.teams.models import Team


@dataclass(frozen=True, slots=True)
class GpuHours:
    """One team's GPU hours of the present month."""

    month: date
    """Its first day."""
    used: float
    limit: float | None
    """None: no limit."""

    @property
    def are_spent(self) -> bool:
        return self.limit is not None and self.used >= self.limit

    @property
    def percent(self) -> float:
        """Share of the limit that is used; 0 without a limit, and 100 or more once it is spent."""
        if self.limit is None:
            return 0.0
        return 100.0 * self.used / self.limit if self.limit else 100.0


class _Seconds(Func):
    template = "EXTRACT(EPOCH FROM %(expressions)s)"
    output_field = FloatField()


def hours_limit(own: float | None) -> float | None:
    """GPU hours of a month that a team may use: its own number, else that of all teams; None: any."""
    return own if own is not None else settings.GPU_HOURS_PER_TEAM


def this_month(now: datetime) -> date:
    """First day of the month."""
    return now.astimezone(UTC).date().replace(day=1)


def used_by(team: OuterRef) -> QuerySet:
    """Subquery: the GPU seconds of this month of the team of an outer run; no row where there are none."""
    own = _counted().filter(run__team=team).order_by().values("run__team")
    return own.annotate(used=Sum(_gpu_seconds())).values("used")


def spent_teams(team_ids: Iterable[str]) -> set[str]:
    """Those of the teams whose GPU hours are used up."""
    return {team for team, hours in hours_of(team_ids).items() if hours.are_spent}


def hours_of(team_ids: Iterable[str]) -> dict[str, GpuHours]:
    """GPU hours of this month, by team."""
    ids = list(team_ids)
    month = this_month(datetime.now(UTC))
    limits = dict(TeamGpuHours.objects.filter(team__in=ids).values_list("team_id", "limit"))
    rows = _counted().filter(run__team__in=ids).order_by().values_list("run__team").annotate(used=Sum(_gpu_seconds()))
    used = dict(rows.values_list("run__team", "used"))
    return {id_: GpuHours(month, used.get(id_, 0.0) / 3600, hours_limit(limits.get(id_))) for id_ in ids}


def hours_of_runs(team: Team, most: int) -> list[tuple[str, str, float]]:
    """(id, name, GPU hours of this month) of the team's runs that used most, the largest first."""
    rows = _counted().filter(run__team=team).order_by().values_list("run__id", "run__name")
    used = rows.annotate(used=Sum(_gpu_seconds())).order_by("-used", "run__id")
    return [(run_id, name, seconds / 3600) for run_id, name, seconds in used[:most]]


def outer_limit() -> QuerySet:
    """Subquery: the own limit of the team of an outer run."""
    return TeamGpuHours.objects.filter(team=OuterRef("team")).values("limit")


def _month() -> Expression:
    return TruncMonth(Now(), tzinfo=UTC)


def _counted() -> QuerySet[Attempt]:
    held = Attempt.objects.filter(gpus__gt=0, first_sync_at__isnull=False, lease_expires_at__isnull=False)
    return held.annotate(until=_until()).filter(until__gt=Greatest(F("first_sync_at"), _month()))


def _until() -> Expression:
    return Least(Coalesce(F("ended_at"), Now()), F("lease_expires_at"))


def _gpu_seconds() -> Expression:
    held = ExpressionWrapper(_until() - Greatest(F("first_sync_at"), _month()), output_field=DurationField())
    return ExpressionWrapper(F("gpus") * _Seconds(held), output_field=FloatField())
