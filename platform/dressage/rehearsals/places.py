"""The places of rehearsals: one at a time on each cluster, in the order of their asking, beside the places of runs.

A rehearsal takes no run's place and waits for none: it is over in minutes, and a team that trains wants to look at its
next run meanwhile. That it is one alone bounds the memory that it costs the runs.
"""

from django.db import connection, transaction
from django.utils import timezone

from dressage.jobs.enqueue import enqueue
from dressage.rehearsals.models import Rehearsal, RehearsalState
from dressage.runs.choice import reservation_in
from dressage.runs.job_clusters import at_work, choose_for_job, fail_if_gone, known_place
from dressage.runs.places import sizes

PLACES = 1
"""Rehearsals that are held at the same time on each cluster, of all teams."""
_LOCK = 0x7265_6865_6172_7361
"""Advisory lock under which places are counted and given."""


def give_places() -> None:
    """Give every free place to the rehearsals that have waited longest."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        waiting = Rehearsal.objects.filter(state=RehearsalState.QUEUED, placed_at=None).order_by("created_at", "id")
        rows = list(waiting.select_for_update().defer(*Rehearsal.large))
        if not rows:
            return
        demands = waiting.values_list("id", "spec__parallelism", "spec__rollout__engine")
        runs = {rehearsal_id: reservation_in(*parts) for rehearsal_id, *parts in demands}
        found, held = sizes(), at_work(Rehearsal.objects.filter(placed_at__isnull=False))
        for rehearsal in rows:
            if fail_if_gone(rehearsal):
                continue
            run = runs[rehearsal.id]
            full = [name for name, count in held.items() if count >= PLACES]
            name = choose_for_job(rehearsal.cluster, found, held, run=run, devices=run.devices, full=full)
            if name is not None:
                held[name] += 1
                rehearsal.placed_on, rehearsal.placed_at = name, timezone.now()
                rehearsal.save(update_fields=["placed_on", "placed_at"])
                enqueue(rehearsal)


def send_again(rehearsal: Rehearsal) -> None:
    """Ask again for a rehearsal that has its place.

    Where its cluster is gone, or away while another is not, it gives the place back and waits for one elsewhere.
    """
    found = sizes()
    present = next((size for size in found if size.name == known_place(rehearsal)), None)
    elsewhere = not rehearsal.cluster and any(not size.away for size in found)
    if present is None or (present.away and elsewhere):
        rehearsal.placed_at = None
        rehearsal.save(update_fields=["placed_at"])
    else:
        enqueue(rehearsal)
