"""The cluster's Celery tasks. Each only starts something, returns in seconds, and may be repeated at any time."""

import logging
import os
from collections.abc import Sequence
from typing import Any

import httpx
import ray
from ray.actor import ActorHandle
from ray.exceptions import RayActorError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from trainer_core.link import admission, celery_queue
from trainer_core.link.cluster import ClusterReport, ResourceBundle
from trainer_core.link.jobs import JOB_KINDS, JobKind
from worker.cluster import actors as cluster
from worker.cluster import measuring
from worker.cluster.app import app
from worker.errors import ClusterError, FencedError
from worker.jobs.actor import JobWorker
from worker.link.admission import fetch_token
from worker.link.cluster import tell_lost, tell_size
from worker.loop.controller import RunController

log = logging.getLogger(__name__)


@app.task(name=celery_queue.START)
def start(run_id: str, attempt: int, link_url: str, link_token: str | None = None) -> bool:
    """Start the controller of an attempt, which then works by itself. False: it has already started, or must not.

    ``link_token`` is in messages of older platforms, from before workers requested tokens.
    """
    path = admission.attempt_path(run_id, attempt)
    return _begin(
        cluster.controller_name(run_id, attempt), RunController, (run_id, attempt), link_url, path, link_token
    )


def _job_task(kind: JobKind) -> None:
    """Register the task that starts the worker of a job of this kind."""

    @app.task(name=kind.task)
    def work(job_id: str, link_url: str, token: str | None = None) -> bool:
        """False: a worker has already started, or none may. ``token`` is in messages of older platforms."""
        arguments = (job_id, kind.name)
        return _begin(kind.actor(job_id), JobWorker, arguments, link_url, kind.token_address(job_id), token)


for _kind in JOB_KINDS:
    _job_task(_kind)


@app.task(name=celery_queue.STOP)
def stop(run_id: str, attempt: int) -> list[str]:
    """Kill what is left of an attempt. Returns the names of the actors that existed."""
    with cluster.connected():
        return cluster.kill_attempt(run_id, attempt)


@app.task(name=celery_queue.CHECK)
def check(attempts: Sequence[tuple[str, int]], link_url: str) -> list[str]:
    """Report attempts whose controllers are dead, so that the platform need not wait for their leases to expire.

    Ray decides: a controller that is alive but slow, stopped or cut off from the platform is not reported. Returns the
    names of the controllers whose deaths the platform has accepted.
    """
    names = {cluster.controller_name(run_id, attempt): (run_id, attempt) for run_id, attempt in attempts}
    with cluster.connected():
        dead = cluster.missing(names)
    told = []
    for name in dead:
        try:
            tell_lost(link_url, *names[name])
            told.append(name)
        except (ClusterError, httpx.HTTPError) as error:
            log.warning("the platform at %s did not accept that %s is dead: %s", link_url, name, error)
    return told


@app.task(name=celery_queue.MEASURE)
def measure(cluster: str, link_url: str, demand: Sequence[dict[str, Any]] = ()) -> bool:
    """Report the cluster's size to the platform, and the demand to its autoscaler. False: the report did not arrive.

    Sent every few seconds: the next message retries what fails now.
    """
    address = os.environ.get("RAY_ADDRESS")
    try:
        found = measuring.report(address or "")
        measuring.publish_demand(
            measuring.gcs_address(address), [ResourceBundle.model_validate(bundle) for bundle in demand]
        )
    except ClusterError as error:
        log.warning("cluster %s: %s", cluster, error)
        found = ClusterReport(fault=str(error)[:500])
    try:
        tell_size(link_url, cluster, found)
    except (ClusterError, httpx.HTTPError) as error:
        log.warning("the platform at %s did not receive the report on cluster %s: %s", link_url, cluster, error)
        return False
    return True


def _begin(
    name: str,
    actor_class: type[RunController] | type[JobWorker],
    arguments: tuple[object, ...],
    link_url: str,
    path: str,
    token: str | None,
) -> bool:
    """Create a detached actor that works by itself, unless one of that name exists, and tell it to begin.

    Its secrets are passed in that call, which goes directly to the actor: Ray's head stores constructor arguments.
    """
    try:
        token = token or fetch_token(link_url, path)
    except FencedError as error:
        log.warning("%s does not start: %s", name, error)
        return False
    except ClusterError as error:
        log.error("%s cannot start: %s", name, error)
        return False
    with cluster.connected():
        try:
            actor = cluster.find(name) or _make(name, actor_class, arguments)
            if not hasattr(actor, "begin"):
                return False  # from an older release whose constructor got everything: it has begun
            return bool(ray.get(actor.begin.remote(link_url, token)))
        except ValueError:
            return False  # two messages at the same moment: Ray refused the second actor of that name
        except RayActorError:
            log.warning("%s ended as soon as it had started", name)
            return True


def _make(name: str, actor_class: type[RunController] | type[JobWorker], arguments: tuple[object, ...]) -> ActorHandle:
    """The new actor. Raises ValueError if one of that name exists."""
    options = {**cluster.actor_options(name), "lifetime": "detached", "max_restarts": 0}
    if (head := cluster.head_node()) is not None:
        # Nothing continues without the head node anyway, and no other node's death then kills a run's controller.
        options["scheduling_strategy"] = NodeAffinitySchedulingStrategy(head, soft=False)
    actor: ActorHandle = ray.remote(actor_class).options(**options).remote(*arguments)
    return actor
