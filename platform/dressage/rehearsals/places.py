"""The place of rehearsals on the cluster: one at a time, in the order of their asking, beside the places of runs.

A rehearsal takes no run's place and waits for none: it is over in minutes, and a team that trains wants to look at its
next run meanwhile. That it is one alone bounds the memory that it costs the runs.
"""

from django.db import connection, transaction
from django.utils import timezone

from dressage.jobs.enqueue import enqueue
from dressage.jobs.models import OPEN
from dressage.rehearsals.models import Rehearsal, RehearsalState

PLACES = 1
"""Rehearsals that are held at the same time, of all teams."""
_LOCK = 0x7265_6865_6172_7361
"""Advisory lock under which places are counted and given."""


def give_places() -> None:
    """Give every free place to the rehearsals that have waited longest."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        free = PLACES - Rehearsal.objects.filter(state__in=OPEN, placed_at__isnull=False).count()
        if free <= 0:
            return
        waiting = Rehearsal.objects.filter(state=RehearsalState.QUEUED, placed_at=None).order_by("created_at", "id")
        for rehearsal in waiting.select_for_update().defer("spec")[:free]:
            rehearsal.placed_at = timezone.now()
            rehearsal.save(update_fields=["placed_at"])
            enqueue(rehearsal)
