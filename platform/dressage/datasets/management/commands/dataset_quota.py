"""``manage.py dataset_quota``: what each team stores in datasets, and its limits."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from dressage.common.actors import Actor
from dressage.datasets.models import TeamDatasetQuota
from dressage.datasets.quota.services import set_quota
from dressage.datasets.quota.usage import size, usage_of
from dressage.teams.models import Team

USUAL = "usual"


class Command(BaseCommand):
    """Shows what each team stores. If a team is given, sets its limits of bytes and rows."""

    help = (
        "Show what each team keeps in datasets. With --team and --gib or --rows, set how much it may keep "
        f"({USUAL}: as DATASET_GIB_PER_TEAM and DATASET_ROWS_PER_TEAM say)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--team", help="slug of the team")
        parser.add_argument("--gib", help=f"GiB from 0, or {USUAL!r}")
        parser.add_argument("--rows", help=f"rows from 0, or {USUAL!r}")

    def handle(self, *args: Any, **options: Any) -> None:
        gib, rows = options["gib"], options["rows"]
        if (options["team"] is None) != (gib is None and rows is None):
            raise CommandError("--team belongs together with --gib, --rows, or both.")
        if options["team"] is not None:
            _set(options["team"], gib, rows)
        for team in Team.objects.order_by("slug"):
            usage = usage_of(team.id)
            held = f"{size(usage.bytes)} of {size(usage.bytes_limit)}, {usage.rows:,} of {usage.rows_limit:,} rows"
            self.stdout.write(f"{team.slug}: {held}")


def _set(slug: str, gib: str | None, rows: str | None) -> None:
    team = Team.objects.filter(slug=slug).first()
    if team is None:
        raise CommandError(f"There is no team {slug!r}: 'manage.py dataset_quota' lists them.")
    own = TeamDatasetQuota.objects.filter(team=team).first() or TeamDatasetQuota(team=team)
    set_quota(
        team,
        Actor.system("dataset_quota"),
        bytes=own.bytes if gib is None else _number("--gib", gib, 1 << 30),
        rows=own.rows if rows is None else _number("--rows", rows, 1),
    )


def _number(name: str, text: str, unit: int) -> int | None:
    if text == USUAL:
        return None
    try:
        number = float(text) * unit
    except ValueError:
        number = -1.0
    if not 0 <= number < 2**62:
        raise CommandError(f"{name} is a number from 0, or {USUAL!r}; it was {text!r}.")
    return int(number)
