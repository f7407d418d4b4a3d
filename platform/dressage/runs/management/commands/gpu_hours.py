"""``manage.py gpu_hours``: the GPU hours that each team has used this month, and its limit."""

import math
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from dressage.common.actors import Actor
from dressage.runs.facts.gpu_hours import hours_of
from dressage.runs.models import TeamGpuHours
from dressage.teams.models import Team
from dressage.teams.services import record_audit

USUAL = "usual"


class Command(BaseCommand):
    """Shows each team's GPU hours; with a team and a number, sets the team's monthly limit."""

    help = (
        "Show the GPU hours that each team has used this month. With --team and --limit, set its monthly limit"
        f" ({USUAL}: the value of GPU_HOURS_PER_TEAM)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--team", help="slug of the team")
        parser.add_argument("--limit", help=f"GPU hours of a month from 0, or {USUAL!r}")

    def handle(self, *args: Any, **options: Any) -> None:
        if (options["team"] is None) != (options["limit"] is None):
            raise CommandError("Give --team and --limit together.")
        if options["team"] is not None:
            _set_limit(options["team"], _hours(options["limit"]))
        self._show()

    def _show(self) -> None:
        teams = list(Team.objects.order_by("slug"))
        found = hours_of(team.id for team in teams)
        own = set(TeamGpuHours.objects.filter(limit__isnull=False).values_list("team_id", flat=True))
        for team in teams:
            hours = found[team.id]
            limit = "no limit" if hours.limit is None else f"limit {hours.limit:g}"
            kind = "its own" if team.id in own else USUAL
            self.stdout.write(f"{team.slug}: {hours.used:.2f} GPU hours in {hours.month:%B %Y}, {limit} ({kind})")


@transaction.atomic
def _set_limit(slug: str, limit: float | None) -> None:
    team = Team.objects.select_for_update(no_key=True).filter(slug=slug).first()
    if team is None:
        raise CommandError(f"There is no team {slug!r}: 'manage.py gpu_hours' lists them.")
    quota, _ = TeamGpuHours.objects.get_or_create(team=team)
    before, quota.limit = quota.limit, limit
    quota.save(update_fields=["limit"])
    record_audit(
        team, Actor.system("gpu_hours"), "team.gpu_hours", "team", team.id, {"limit": before}, {"limit": limit}
    )


def _hours(text: str) -> float | None:
    if text == USUAL:
        return None
    try:
        hours = float(text)
    except ValueError:
        hours = math.nan
    if not 0 <= hours < 1e9:
        raise CommandError(f"--limit must be a number of hours from 0, or {USUAL!r}, not {text!r}.")
    return hours
