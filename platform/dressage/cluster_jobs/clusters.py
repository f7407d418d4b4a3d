"""The cluster of a job: the one that people chose, otherwise one with room, as for a run.

A job takes no slot of a run and reserves no CPU, so no cluster is too full for it. Slots only show which cluster has
the most room.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from django.conf import settings
from django.db.models import QuerySet
from django.db.models.functions import Now

from dressage.cluster_jobs.life import fail
from dressage.cluster_jobs.models import OPEN, ClusterJob, J, jobs_of
from dressage.clusters.selectors import cluster_names
from dressage.clusters.sizes import ClusterSize
from dressage.jobs.messages import send_on_commit
from dressage.runs.facts.places import sizes
from trainer_core.link import celery_queue
from trainer_core.planning.reservation import Reservation


def choose_for_job(
    wanted: str,
    found: Sequence[ClusterSize],
    at_work: Mapping[str, int],
    *,
    run: Reservation | None = None,
    devices: int = 0,
    full: Collection[str] = (),
) -> str | None:
    """The cluster that a job goes to; None: it waits until an eligible cluster has room for it.

    A cluster that is away, that could never hold the run, or whose GPUs are all in use is only chosen if there is no
    better one. Among several, the choice prefers a free slot for a run, then the fewest jobs, then the most free slots,
    then the first in order.

    Args:
        wanted: the cluster that people chose; empty for any.
        found: all clusters.
        at_work: open jobs of its kind, by cluster.
        run: the reservation of the run that the job is about.
        devices: GPUs that it wants on a cluster that has any.
        full: clusters that take no more jobs of its kind now.
    """
    left = [size for size in found if wanted in ("", size.name)]
    preferences: tuple[Callable[[ClusterSize], bool], ...] = (
        lambda size: not size.away,
        lambda size: run is None or not size.never_holds(run),
        lambda size: not size.never_holds(Reservation(int(devices > 0), 0, max(devices, 1))),
    )
    for preferred in preferences:
        left = [size for size in left if preferred(size)] or left
    left = [size for size in left if size.name not in full]
    left = [size for size in left if size.has_idle_gpus(devices)] or left
    best = min(left, key=lambda size: (not size.free, at_work.get(size.name, 0), -size.free), default=None)
    return None if best is None else best.name


def at_work(jobs: QuerySet[J]) -> Counter[str]:
    """Number of open jobs by the cluster that was asked to do them."""
    asked = jobs.filter(state__in=OPEN).exclude(rung_at=None).values_list("placed_on", flat=True)
    return Counter(name or cluster_names()[0] for name in asked)


def known_place(job: ClusterJob) -> str:
    """The cluster that was asked to do a job. For jobs from before clusters were chosen, it is the first one."""
    return job.placed_on or cluster_names()[0]


def fail_if_gone(job: ClusterJob) -> bool:
    """Fail a job whose chosen cluster is no longer part of the installation. Returns whether it was failed."""
    gone = bool(job.cluster) and job.cluster not in cluster_names()
    if gone:
        fail(job, f"The cluster “{job.cluster}” is no longer in this installation: choose another.")
    return gone


def cluster_words(name: str) -> str:
    """``the cluster``, with its name if there are several."""
    return f"the cluster “{name}”" if len(cluster_names()) > 1 and name else "the cluster"


def send(job: ClusterJob) -> None:
    """Ask a cluster to do a job: the previous one while it answers, otherwise a newly chosen one.

    A job whose chosen cluster is gone fails.
    """
    if fail_if_gone(job):
        return
    found = sizes()
    asked = job.rung_at is not None
    present = next((size for size in found if asked and size.name == known_place(job)), None)
    if present is None or present.away:
        others = at_work(jobs_of(type(job)).exclude(pk=job.pk))
        job.placed_on = choose_for_job(job.cluster, found, others) or known_place(job)
        job.save(update_fields=["placed_on"])
    notify(job)


def notify(job: ClusterJob) -> None:
    """Ask the job's cluster, on commit, to do it. A message may be repeated at any time; it contains no secret.

    Jobs from before clusters were chosen go to the first one. Losing a message only causes a delay: the sweep sends it
    again.
    """
    type(job).objects.filter(pk=job.pk).update(rung_at=Now())
    queue = celery_queue.queue_of(known_place(job))
    send_on_commit(job.task, queue, job_id=job.id, link_url=settings.LINK_URL)
