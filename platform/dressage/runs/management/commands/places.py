"""``manage.py places``: how the slots of the cluster are distributed, and the limit of a team."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.db.models import Count, Q

from dressage.common.actors import Actor
from dressage.runs.facts.places import places_in_all, sizes, team_limit
from dressage.runs.models import Run, TeamPlaces
from dressage.runs.states import ACTIVE, RunState
from dressage.teams.models import Team
from dressage.teams.services import record_audit

USUAL = "usual"


class Command(BaseCommand):
    """Shows each team's slots; with a team and a number, sets how many it may hold."""

    help = (
        "Show how many slots each team holds, waits for and may hold. With --team and --limit, set how many it may hold"
        f" ({USUAL}: the value of MAX_ACTIVE_RUNS_PER_TEAM). Runs that hold a slot keep it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--team", help="slug of the team")
        parser.add_argument("--limit", help=f"a number from 0, or {USUAL!r}")

    def handle(self, *args: Any, **options: Any) -> None:
        if (options["team"] is None) != (options["limit"] is None):
            raise CommandError("Give --team and --limit together.")
        if options["team"] is not None:
            _set_limit(options["team"], _number(options["limit"]))
        self._show()

    def _show(self) -> None:
        held, waiting = Count("pk", filter=Q(state__in=ACTIVE)), Count("pk", filter=Q(state=RunState.QUEUED))
        rows = Run.objects.order_by().values_list("team_id").annotate(held=held, waiting=waiting)
        counts = {team: (held, waiting) for team, held, waiting in rows}
        own = dict(TeamPlaces.objects.values_list("team_id", "places"))
        places = places_in_all(sizes())
        self.stdout.write(f"{sum(held for held, _ in counts.values())} of {places} slots are taken.")
        for team in Team.objects.order_by("slug"):
            holds, waits = counts.get(team.id, (0, 0))
            limit = own.get(team.id)
            kind = USUAL if limit is None else "its own"
            self.stdout.write(
                f"{team.slug}: holds {holds}, waits for {waits}, limit {team_limit(limit, places)} ({kind})"
            )


@transaction.atomic
def _set_limit(slug: str, limit: int | None) -> None:
    team = Team.objects.select_for_update(no_key=True).filter(slug=slug).first()
    if team is None:
        raise CommandError(f"There is no team {slug!r}: 'manage.py places' lists them.")
    share, _ = TeamPlaces.objects.get_or_create(team=team)
    before, share.places = share.places, limit
    share.save(update_fields=["places"])
    facts = {"places": before}, {"places": limit}
    record_audit(team, Actor.system("places"), "team.places", "team", team.id, *facts)


def _number(text: str) -> int | None:
    if text == USUAL:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 6:
        raise CommandError(f"--limit must be a number from 0, or {USUAL!r}, not {text!r}.")
    return int(text)
