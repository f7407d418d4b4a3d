"""Costs of a run until now: time on its places, GPU hours, and money where the installation has a price."""

from datetime import datetime

from django.conf import settings
from django.db.models import F
from django.db.models.functions import Now
from typing_extensions import TypedDict

from dressage.runs.models import GpuSpan, Run


class CostDocument(TypedDict):
    """Cost of a run until now, all its attempts together."""

    place_hours: float
    """Hours for which its attempts have held a place on a cluster."""
    gpu_hours: float
    """GPUs times the hours for which it held them."""
    price: float | None
    """Price of its GPU hours; null where the installation sets none."""
    currency: str | None
    """Currency of the price, as ISO 4217 writes it."""


def cost_of(run: Run) -> CostDocument:
    """Cost of the run: from each attempt's first sync to its end, and never beyond its last lease."""
    held = gpus = 0.0
    columns = ("first_sync_at", "gpus", "gpus_since", "ended_at", "lease_expires_at", "now")
    begun = run.attempts.filter(first_sync_at__isnull=False, lease_expires_at__isnull=False)
    for since, number, number_since, ended, lease, now in begun.annotate(now=Now()).values_list(*columns):
        until = min(ended or now, lease)
        held += _hours(since, until)
        gpus += number * _hours(number_since or since, until)
    spans = GpuSpan.objects.filter(attempt__run=run).annotate(lasts=F("until") - F("since"))
    gpus += sum(number * lasts.total_seconds() / 3600 for number, lasts in spans.values_list("gpus", "lasts"))
    price = settings.GPU_HOUR_PRICE
    return {
        "place_hours": held,
        "gpu_hours": gpus,
        "price": None if price is None else price * gpus,
        "currency": None if price is None else settings.GPU_HOUR_CURRENCY,
    }


def _hours(since: datetime, until: datetime) -> float:
    return max(0.0, (until - since).total_seconds()) / 3600
