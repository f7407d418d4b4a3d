"""The cluster of a job: the one that people chose, else one with room, as for a run.

A job takes no place of a run and reserves no CPU, so no cluster is too full for it: places only say which has most
room.
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
    """The cluster that a job goes to; None: it waits until one of those that come into question has room for it.

    A cluster that is away, that could never hold the run, or whose GPUs are all held comes into question where no other
    does. Of several, one with a free place for a run is taken, then the one with the fewest jobs, then the one with the
    most free places, then the first.

    Args:
        wanted: the cluster that people chose; empty for any.
        found: all clusters.
        at_work: open jobs of its kind, by cluster.
        run: what the run would reserve that the job is about.
        devices: GPUs that it wants on a cluster that has any.
        full: clusters that take no job of its kind now.
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
    """Open ones of the jobs by the cluster that was asked for them."""
    asked = jobs.filter(state__in=OPEN).exclude(rung_at=None).values_list("placed_on", flat=True)
    return Counter(name or cluster_names()[0] for name in asked)


def known_place(job: ClusterJob) -> str:
    """The cluster that was asked for a job: the first for those from before clusters were chosen for them."""
    return job.placed_on or cluster_names()[0]


def fail_if_gone(job: ClusterJob) -> bool:
    """Fail a job whose chosen cluster the installation has no more. Returns whether that is so."""
    gone = bool(job.cluster) and job.cluster not in cluster_names()
    if gone:
        fail(job, f"The cluster “{job.cluster}” is no longer one of this installation: choose another.")
    return gone


def cluster_words(name: str) -> str:
    """``the cluster``, with its name where there are several."""
    return f"the cluster “{name}”" if len(cluster_names()) > 1 and name else "the cluster"


def send(job: ClusterJob) -> None:
    """Ask a cluster for a job: the one that was asked before while it answers, else one that is chosen anew.

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
    """Ask the job's cluster, on commit, to work on it. A message may be repeated at any time; it holds no secret.

    Jobs from before clusters were chosen for them are asked of the first. A lost message only delays: the sweep sends
    it again.
    """
    type(job).objects.filter(pk=job.pk).update(rung_at=Now())
    queue = celery_queue.queue_of(known_place(job))
    send_on_commit(job.task, queue, job_id=job.id, link_url=settings.LINK_URL)
