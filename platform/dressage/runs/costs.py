"""Costs of a run until now: time on its places, GPU hours, and money where the installation has a price."""

from datetime import datetime

from django.conf import settings
from django.db.models.functions import Now
from typing_extensions import TypedDict

from dressage.runs.models import GpuSpan, Run
from dressage.telemetry.axes import HeldSpan


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
    places, spans = _held(run)
    gpus = sum(span.gpus * _hours(span.since, span.until) for span in spans)
    price = settings.GPU_HOUR_PRICE
    return {
        "place_hours": places,
        "gpu_hours": gpus,
        "price": None if price is None else price * gpus,
        "currency": None if price is None else settings.GPU_HOUR_CURRENCY,
    }


def held_spans(run: Run) -> list[HeldSpan]:
    """Spans in which its attempts have held GPUs, with how many: its cost until now is their sum."""
    return _held(run)[1]


def _held(run: Run) -> tuple[float, list[HeldSpan]]:
    """(hours on places, spans with GPUs)."""
    places, spans = 0.0, []
    columns = ("first_sync_at", "gpus", "gpus_since", "ended_at", "lease_expires_at", "now")
    begun = run.attempts.filter(first_sync_at__isnull=False, lease_expires_at__isnull=False)
    for since, number, number_since, ended, lease, now in begun.annotate(now=Now()).values_list(*columns):
        until = min(ended or now, lease)
        places += _hours(since, until)
        spans.append(HeldSpan(number, number_since or since, until))
    once = GpuSpan.objects.filter(attempt__run=run).values_list("gpus", "since", "until")
    return places, [span for span in (*spans, *(HeldSpan(*one) for one in once)) if span.gpus]


def _hours(since: datetime, until: datetime) -> float:
    return max(0.0, (until - since).total_seconds()) / 3600
