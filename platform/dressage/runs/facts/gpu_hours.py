"""GPU hours: how many a team has used this month, and how many it may use.

Each attempt counts the GPUs that its worker reports, multiplied by the time for which it holds them: from the worker's
first sync at the earliest, to the attempt's end at the latest, and never beyond its last lease. Months are in UTC. CPUs
do not count.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import (
    DateTimeField,
    DurationField,
    Expression,
    ExpressionWrapper,
    F,
    FloatField,
    Func,
    OuterRef,
    QuerySet,
    Subquery,
    Sum,
)
from django.db.models.functions import Coalesce, Greatest, Least, Now, TruncMonth

from dressage.runs.models import Attempt, GpuSpan, TeamGpuHours
from dressage.teams.models import Team


@dataclass(frozen=True, slots=True)
class GpuHours:
    """One team's GPU hours of the current month."""

    month: date
    """First day of the month."""
    used: float
    limit: float | None
    """None: no limit."""

    @property
    def are_spent(self) -> bool:
        return self.limit is not None and self.used >= self.limit

    @property
    def percent(self) -> float:
        """Used share of the limit; 0 without a limit, and 100 or more once it is used up."""
        if self.limit is None:
            return 0.0
        return 100.0 * self.used / self.limit if self.limit else 100.0


class _Seconds(Func):
    template = "EXTRACT(EPOCH FROM %(expressions)s)"
    output_field = FloatField()


def hours_limit(own: float | None) -> float | None:
    """GPU hours per month that a team may use: its own limit, otherwise the one for all teams; None: unlimited."""
    return own if own is not None else settings.GPU_HOURS_PER_TEAM


def this_month(now: datetime) -> date:
    """First day of the month."""
    return now.astimezone(UTC).date().replace(day=1)


def held_from(attempt: Attempt, gpus: float, now: datetime) -> dict[str, Any]:
    """Columns to update when an attempt's worker reports that it holds ``gpus`` GPUs. The previous span is stored."""
    if gpus == attempt.gpus:
        return {}
    begun = attempt.gpus_since or attempt.first_sync_at
    if attempt.gpus and begun is not None:
        GpuSpan.objects.create(attempt=attempt, gpus=attempt.gpus, since=begun, until=now)
    return {"gpus": gpus, "gpus_since": now}


def used_by(team: OuterRef) -> Expression:
    """The GPU seconds used this month by the team of an outer run."""
    parts = [
        Coalesce(Subquery(own.order_by().values(found).annotate(used=Sum(_seconds())).values("used")), 0.0)
        for found, own in (
            ("run__team", _now_held().filter(run__team=team)),
            ("attempt__run__team", _once_held().filter(attempt__run__team=team)),
        )
    ]
    return parts[0] + parts[1]


def spent_teams(team_ids: Iterable[str]) -> set[str]:
    """The teams that have used up their GPU hours."""
    return {team for team, hours in hours_of(team_ids).items() if hours.are_spent}


def hours_of(team_ids: Iterable[str]) -> dict[str, GpuHours]:
    """GPU hours of this month, by team."""
    ids = list(team_ids)
    month = this_month(datetime.now(UTC))
    limits = dict(TeamGpuHours.objects.filter(team__in=ids).values_list("team_id", "limit"))
    used = Counter[str]()
    for found, own in (("run__team", _now_held()), ("attempt__run__team", _once_held())):
        rows = own.filter(**{f"{found}__in": ids}).order_by().values_list(found).annotate(used=Sum(_seconds()))
        used.update(dict(rows))
    return {id_: GpuHours(month, used[id_] / 3600, hours_limit(limits.get(id_))) for id_ in ids}


def hours_of_runs(team: Team, most: int) -> list[tuple[str, str, float]]:
    """(id, name, GPU hours of this month) of the team's runs that used the most, largest first."""
    used, names = Counter[str](), dict[str, str]()
    for run, own in (("run", _now_held()), ("attempt__run", _once_held())):
        rows = own.filter(**{f"{run}__team": team}).order_by().values_list(f"{run}__id", f"{run}__name")
        for run_id, name, seconds in rows.annotate(used=Sum(_seconds())):
            used[run_id] += seconds
            names[run_id] = name
    first = sorted(used.items(), key=lambda item: (-item[1], item[0]))[:most]
    return [(run_id, names[run_id], seconds / 3600) for run_id, seconds in first]


def outer_limit() -> QuerySet:
    """Subquery: the own limit of the team of an outer run."""
    return TeamGpuHours.objects.filter(team=OuterRef("team")).values("limit")


def _month() -> Expression:
    return TruncMonth(Now(), tzinfo=UTC)


def _now_held() -> QuerySet[Attempt]:
    """Attempts with the part of this month for which they have held their current, or last, GPUs."""
    held = Attempt.objects.filter(gpus__gt=0, first_sync_at__isnull=False, lease_expires_at__isnull=False)
    until = Least(Coalesce(F("ended_at"), Now()), F("lease_expires_at"))
    return _in_this_month(held, Coalesce(F("gpus_since"), F("first_sync_at")), until)


def _once_held() -> QuerySet[GpuSpan]:
    """Spans that reach into this month, with the part within it."""
    return _in_this_month(GpuSpan.objects.all(), F("since"), F("until"))


def _in_this_month(held: QuerySet[Any], since: Expression | F, until: Expression | F) -> QuerySet[Any]:
    begun = Greatest(since, _month(), output_field=DateTimeField())
    lasts = ExpressionWrapper(until - begun, output_field=DurationField())
    return held.annotate(lasts=lasts).filter(lasts__gt=timedelta(0))


def _seconds() -> Expression:
    """GPU seconds of the rows of ``_in_this_month``."""
    return ExpressionWrapper(F("gpus") * _Seconds(F("lasts")), output_field=FloatField())
