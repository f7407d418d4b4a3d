"""Looks after imports every few seconds: asks a worker again where none works on one. Idempotent; several may run."""

from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from dressage.policies.imports.enqueue import enqueue_import
from dressage.policies.imports.services import MAX_ACTIVE, SILENT_S
from dressage.policies.models import ACTIVE, ImportState, PolicyImport

ASK_AGAIN_S = 10
"""Seconds after which a worker is asked again for an import that none has taken."""


def sweep_imports() -> None:
    """One round."""
    silent = Q(state__in=ACTIVE, heard_at__lt=Now() - timedelta(seconds=SILENT_S))
    waiting = Q(state=ImportState.QUEUED)
    unasked = Q(rung_at=None) | Q(rung_at__lt=Now() - timedelta(seconds=ASK_AGAIN_S))
    found = PolicyImport.objects.filter(silent | waiting).filter(unasked).order_by("created_at")
    for row in found[:MAX_ACTIVE]:
        with transaction.atomic():
            enqueue_import(row)
