"""Slots of jobs with an engine: a few on each cluster, first come, first served, in addition to those of runs.

Such a job neither takes nor waits for a run's slot. The limit on their number bounds the memory that they take from
the runs.
"""

from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone

from dressage.cluster_jobs.clusters import at_work, choose_for_job, fail_if_gone, known_place, notify
from dressage.cluster_jobs.models import OPEN, P, PlacedJob, jobs_of
from dressage.jobs.models import JobState
from dressage.runs.facts.places import sizes
from dressage.runs.needs.choice import DEMAND, reservation_in


def give_places(model: type[P]) -> None:
    """Give every free slot to the jobs of a kind that have waited longest."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [model.places_lock])
        waiting = jobs_of(model).filter(state=JobState.QUEUED, placed_at=None).order_by("created_at", "id")
        rows = list(waiting.select_for_update().defer(*model.large))
        if not rows:
            return
        demands = waiting.values_list("id", *DEMAND)
        runs = {job_id: reservation_in(*parts) for job_id, *parts in demands}
        found, held = sizes(), at_work(jobs_of(model).filter(placed_at__isnull=False))
        for job in rows:
            if fail_if_gone(job):
                continue
            run = runs[job.id]
            full = [name for name, count in held.items() if count >= model.places]
            name = choose_for_job(job.cluster, found, held, run=run, devices=run.devices, full=full)
            if name is not None:
                held[name] += 1
                job.placed_on, job.placed_at = name, timezone.now()
                job.save(update_fields=["placed_on", "placed_at"])
                notify(job)


def ahead_of(waiting: PlacedJob) -> int:
    """Number of jobs of its kind, of all teams, ahead of a job that waits for its slot; 0 for any other.

    If it has a chosen cluster, only jobs that have a slot there, or may get one there, count.
    """
    if waiting.state not in OPEN or waiting.placed_at is not None:
        return 0
    before = jobs_of(type(waiting)).filter(state__in=OPEN).exclude(pk=waiting.pk)
    if waiting.cluster:
        held = Q(placed_at__isnull=False, placed_on=waiting.cluster)
        before = before.filter(held | Q(placed_at=None, cluster__in=("", waiting.cluster)))
    return before.filter(created_at__lte=waiting.created_at).count()


def send_again(job: PlacedJob) -> None:
    """Notify the cluster again of a job that has its slot.

    If its cluster is gone, or away while another is not, it gives up the slot and waits for one elsewhere.
    """
    found = sizes()
    present = next((size for size in found if size.name == known_place(job)), None)
    elsewhere = not job.cluster and any(not size.away for size in found)
    if present is None or (present.away and elsewhere):
        job.placed_at = None
        job.save(update_fields=["placed_at"])
    else:
        notify(job)
