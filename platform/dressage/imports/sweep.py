"""Looks after imports every few seconds: asks a worker again where none works on one. Idempotent; several may run."""

from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from dressage.imports.enqueue import enqueue_import
from dressage.imports.life import MAX_ACTIVE, SILENT_S
from dressage.imports.models import QUEUED, Import

ASK_AGAIN_S = 10
"""Seconds after which a worker is asked again for an import that none has taken."""


def sweep_imports(model: type[Import]) -> None:
    """One round for the imports of a kind."""
    silent = Q(state__in=model.active_states, heard_at__lt=Now() - timedelta(seconds=SILENT_S))
    waiting = Q(state=QUEUED)
    unasked = Q(rung_at=None) | Q(rung_at__lt=Now() - timedelta(seconds=ASK_AGAIN_S))
    found = model.objects.filter(silent | waiting).filter(unasked).order_by("created_at")
    for row in found[:MAX_ACTIVE]:
        with transaction.atomic():
            enqueue_import(row)
