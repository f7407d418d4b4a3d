"""The Celery tasks of the cluster. Each only starts something: it returns in seconds and may be repeated at any
time."""

import logging

import ray
from ray.exceptions import RayActorError

from trainer_core.link import celery_queue
from worker.bench.actor import BenchWorker
from worker.cluster import actors as cluster
from worker.cluster.app import app
from worker.loop.controller import RunController

log = logging.getLogger(__name__)


@app.task(name=celery_queue.START)
def start(run_id: str, attempt: int, link_url: str, link_token: str) -> bool:
    """Make the controller of an attempt, which then works by itself. False: it is there already."""
    return _made_once(cluster.controller_name(run_id, attempt), RunController, run_id, attempt, link_url, link_token)


@app.task(name=celery_queue.BENCH)
def bench(job_id: str, link_url: str, token: str) -> bool:
    """Make the worker of a bench job, which then works by itself. False: it is there already."""
    return _made_once(cluster.bench_name(job_id), BenchWorker, job_id, link_url, token)


@app.task(name=celery_queue.STOP)
def stop(run_id: str, attempt: int) -> list[str]:
    """Kill what is left of an attempt. Returns the names of the actors that were there."""
    with cluster.connected():
        return cluster.kill_attempt(run_id, attempt)


def _made_once(name: str, actor_class: type[RunController] | type[BenchWorker], *arguments: object) -> bool:
    """Make a detached actor that works by itself. False: there is one of that name already."""
    with cluster.connected():
        if cluster.find(name) is not None:
            return False
        # Two messages may arrive at the same moment: Ray itself refuses the second actor of that name.
        options = {**cluster.actor_options(name), "lifetime": "detached", "max_restarts": 0}
        try:
            actor = ray.remote(actor_class).options(**options).remote(*arguments)
            ray.get(actor.ping.remote())
        except ValueError:
            return False
        except RayActorError:
            log.warning("%s ended as soon as it had begun", name)
        return True
