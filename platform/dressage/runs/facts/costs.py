"""Costs of runs so far: hours on their slots, GPU hours, and money if the installation has a price."""

from collections.abc import Sequence
from datetime import datetime

from django.conf import settings
from django.db.models.functions import Now
from typing_extensions import TypedDict

from dressage.runs.models import Attempt, GpuSpan, Run
from dressage.telemetry.axes import HeldSpan


class CostDocument(TypedDict):
    """Cost of a run so far, over all its attempts."""

    place_hours: float
    """Hours for which its attempts have held a slot on a cluster."""
    gpu_hours: float
    """GPU hours: number of GPUs multiplied by the hours for which it held them."""
    price: float | None
    """Price of its GPU hours; null if the installation sets none."""
    currency: str | None
    """Currency of the price, as an ISO 4217 code."""


def costs_of(runs: Sequence[Run]) -> list[CostDocument]:
    """Cost of each run: from each attempt's first sync to its end, but never beyond its last lease."""
    price = settings.GPU_HOUR_PRICE
    currency = None if price is None else settings.GPU_HOUR_CURRENCY
    found: list[CostDocument] = []
    for places, spans in _held(runs):
        gpus = sum(span.gpus * _hours(span.since, span.until) for span in spans)
        bill = None if price is None else price * gpus
        found.append({"place_hours": places, "gpu_hours": gpus, "price": bill, "currency": currency})
    return found


def held_spans(run: Run) -> list[HeldSpan]:
    """Spans in which its attempts have held GPUs, with their number: the cost so far is their sum."""
    [(_, spans)] = _held([run])
    return spans


def _held(runs: Sequence[Run]) -> list[tuple[float, list[HeldSpan]]]:
    """(hours on slots, spans with GPUs) of each run."""
    places = dict.fromkeys((run.id for run in runs), 0.0)
    spans: dict[str, list[HeldSpan]] = {run.id: [] for run in runs}
    columns = ("run_id", "first_sync_at", "gpus", "gpus_since", "ended_at", "lease_expires_at", "now")
    begun = Attempt.objects.filter(run__in=spans, first_sync_at__isnull=False, lease_expires_at__isnull=False)
    for run, since, number, number_since, ended, lease, now in begun.annotate(now=Now()).values_list(*columns):
        until = min(ended or now, lease)
        places[run] += _hours(since, until)
        spans[run].append(HeldSpan(number, number_since or since, until))
    once = GpuSpan.objects.filter(attempt__run__in=spans)
    for run, number, since, until in once.values_list("attempt__run_id", "gpus", "since", "until"):
        spans[run].append(HeldSpan(number, since, until))
    return [(places[run.id], [span for span in spans[run.id] if span.gpus]) for run in runs]


def _hours(since: datetime, until: datetime) -> float:
    return max(0.0, (until - since).total_seconds()) / 3600
