"""Quotas of GPU hours, enforced by every sweep. A team is warned at 80 and 95 % of its monthly hours. Once they are
used up, its runs are paused and saved, and give their slots back. Runs on clusters without GPUs continue."""

from collections.abc import Callable
from datetime import date, datetime

import structlog
from django.db import transaction
from django.db.models import F, QuerySet

from dressage.runs.facts.gpu_hours import GpuHours, hours_of
from dressage.runs.life.services import pause_for_quota
from dressage.runs.models import Attempt, Run, TeamGpuHours
from dressage.runs.states import ACTIVE, DesiredState
from dressage.telemetry.events import append_event

logger = structlog.get_logger(__name__)

WARN_AT = (80, 95)
"""Percentages of the limit at which a team is warned, once per month each."""


def keep_gpu_hours(now: datetime) -> None:
    """Warn teams whose hours are almost used up, and pause the runs of teams that have used them up.

    Args:
        now: the time at which runs are asked to give their slots back.
    """
    teams = set(_on_gpus().order_by().values_list("run__team", flat=True))
    for team_id, hours in (hours_of(teams) if teams else {}).items():
        if hours.are_spent:
            why = f"{spent_sentence(hours)} The run is checkpointed and preempted; resume it when there are hours."
            _each(team_id, lambda run, why=why: pause_for_quota(run, why, now))  # type: ignore[misc]
        else:
            _warn(team_id, hours)


def spent_sentence(hours: GpuHours) -> str:
    """The sentence for a team whose hours are used up."""
    return f"The team has used {hours.used:.1f} of its {hours.limit:g} GPU hours of {hours.month:%B %Y}."


def _warn(team_id: str, hours: GpuHours) -> None:
    reached = max((percent for percent in WARN_AT if hours.percent >= percent), default=0)
    if not reached or not _is_new(team_id, hours.month, reached):
        return
    message = f"{spent_sentence(hours)} When they are used up, its runs on GPUs are checkpointed and paused."
    alert = {"level": "warn", "title": f"{reached} % of the GPU hours are used", "message": message}
    _each(team_id, lambda run: append_event(run, "alert", alert, step=run.step))


@transaction.atomic
def _is_new(team_id: str, month: date, percent: int) -> bool:
    """Record the warning. False: the team was already warned."""
    TeamGpuHours.objects.get_or_create(team_id=team_id)
    row = TeamGpuHours.objects.select_for_update().get(team_id=team_id)
    if row.warned_month == month and row.warned_percent >= percent:
        return False
    row.warned_month, row.warned_percent = month, percent
    row.save(update_fields=["warned_month", "warned_percent"])
    return True


def _on_gpus() -> QuerySet[Attempt]:
    """Attempts that hold GPUs."""
    active = Attempt.objects.filter(run__state__in=ACTIVE, number=F("run__attempt"), gpus__gt=0)
    return active.exclude(run__desired_state=DesiredState.CANCELLED)


def _each(team_id: str, act: Callable[[Run], object]) -> None:
    """Apply ``act`` to each locked run of the team that holds GPUs. A failure does not stop the rest."""
    for run_id in list(_on_gpus().filter(run__team=team_id).values_list("run_id", flat=True)):
        try:
            with transaction.atomic():
                run = Run.objects.select_for_update(of=("self",)).get(pk=run_id)
                if run.state in ACTIVE:
                    act(run)
        except Exception:
            logger.exception("a quota could not be kept", run=run_id)
