"""Spend of a team since a time: tokens trained on, slot hours, GPU hours."""

from datetime import datetime

from django.conf import settings
from django.db.models import F, Max, Sum
from django.db.models.functions import Now
from typing_extensions import TypedDict

from dressage.common.openapi.document_schema import Moment as MomentText
from dressage.common.times import iso
from dressage.runs.models import Attempt, GpuSpan, Run
from dressage.teams.models import Team
from dressage.telemetry.models import Moment


class SpendDocument(TypedDict):
    """Total spend of the team's runs."""

    since: MomentText
    tokens: int
    """Completion tokens that runs have trained on."""
    place_hours: float
    """Hours for which attempts have held a slot."""
    gpu_hours: float
    price: float | None
    """Price of the GPU hours; null if the installation sets none."""
    currency: str | None


def spend_since(team: Team, since: datetime) -> SpendDocument:
    """Add up the spend of the team's runs since then."""
    places, gpus = _hours(team, since)
    price = settings.GPU_HOUR_PRICE
    return {
        "since": iso(since),
        "tokens": _tokens(team, since),
        "place_hours": places,
        "gpu_hours": gpus,
        "price": None if price is None else price * gpus,
        "currency": None if price is None else settings.GPU_HOUR_CURRENCY,
    }


def _tokens(team: Team, since: datetime) -> int:
    """Current token counts of the runs, minus their counts at that time."""
    moved = Run.objects.for_team(team).filter(updated_at__gte=since)
    now = moved.aggregate(total=Sum("tokens_total"))["total"] or 0
    before = Moment.objects.filter(run__in=moved, at__lt=since).values("run").annotate(most=Max("tokens_total"))
    return max(0, now - sum(row["most"] for row in before))


def _hours(team: Team, since: datetime) -> tuple[float, float]:
    """(slot hours, GPU hours): from each attempt's first sync to its end, never beyond its last lease."""
    places = gpus = 0.0
    columns = ("first_sync_at", "gpus", "gpus_since", "ended_at", "lease_expires_at", "now")
    begun = Attempt.objects.filter(run__team=team, first_sync_at__isnull=False, lease_expires_at__gte=since)
    for first, number, number_since, ended, lease, now in begun.annotate(now=Now()).values_list(*columns):
        until = min(ended or now, lease)
        places += _between(max(first, since), until)
        gpus += number * _between(max(number_since or first, since), until)
    spans = GpuSpan.objects.filter(attempt__run__team=team, until__gte=since).annotate(begun=F("since"))
    for number, first, until in spans.values_list("gpus", "begun", "until"):
        gpus += number * _between(max(first, since), until)
    return places, gpus


def _between(since: datetime, until: datetime) -> float:
    return max(0.0, (until - since).total_seconds()) / 3600
