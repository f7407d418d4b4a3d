"""Looks after jobs every few seconds: asks a worker again where none works on one. Idempotent; several may run."""

from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from dressage.lab.enqueue import enqueue_job
from dressage.lab.life import SILENT_S, alike, most_at_once
from dressage.lab.models import LabJob, LabKind, LabState

ASK_AGAIN_S = 10
"""Seconds after which a worker is asked again for a job that none has taken."""


def sweep_jobs() -> None:
    """One round."""
    silent = Q(state=LabState.RUNNING, heard_at__lt=Now() - timedelta(seconds=SILENT_S))
    waiting = Q(state=LabState.QUEUED)
    unasked = Q(rung_at=None) | Q(rung_at__lt=Now() - timedelta(seconds=ASK_AGAIN_S))
    found = LabJob.objects.filter(silent | waiting).filter(unasked).order_by("created_at")
    for kind in (LabKind.STATISTICS, LabKind.QUALITY):  # either stands for all that wait for the same places
        for job in alike(kind, found)[: most_at_once(kind) + 1]:
            with transaction.atomic():
                enqueue_job(job)
