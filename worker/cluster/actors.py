"""The Ray cluster: connecting to it, naming the actors of an attempt, finding and killing them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ray
from ray.actor import ActorHandle

from worker.errors import ClusterError

NAMESPACE = "dressage"
FORWARDED = ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN_PATH", "OMP_WAIT_POLICY", "VLLM_CPU_OMP_THREADS_BIND")
"""Environment that actors need as well, should the node's own lack it."""


@contextmanager
def connected() -> Iterator[None]:
    """A connection to the cluster of ``RAY_ADDRESS`` for a moment.

    Short-lived on purpose: a driver that stays connected is ended by Ray a minute after the cluster dies.
    """
    if ray.is_initialized():
        yield
        return
    address = os.environ.get("RAY_ADDRESS")
    if not address:
        raise ClusterError("RAY_ADDRESS is not set: there is no cluster to run on.")
    ray.init(address, namespace=NAMESPACE, log_to_driver=False, configure_logging=False)
    try:
        yield
    finally:
        ray.shutdown()


def controller_name(run_id: str, attempt: int) -> str:
    return f"run-{run_id}-{attempt}"


def bench_name(job_id: str) -> str:
    return f"bench-{job_id}"


def rehearsal_name(job_id: str) -> str:
    return f"rehearsal-{job_id}"


def worker_name(run_id: str, attempt: int, role: str, index: int, generation: int = 0) -> str:
    """Name of a worker actor; ``generation`` counts its replacements."""
    return f"{controller_name(run_id, attempt)}/{role}-{index}.{generation}"


def actor_options(name: str | None, num_cpus: float = 0.0, num_gpus: float = 0.0, **env: str) -> dict[str, Any]:
    """Options of every actor of a run.

    ``num_cpus`` is what Ray reserves, not what is used. Controller and reward workers reserve nothing, so that a run
    fits on two cores: one for the engine, one for the learner. An actor sees no GPU but what it reserves. One OpenMP
    thread each: pools of two processes on shared cores slow one another down by an order of magnitude. The variable
    must be set before torch is imported.
    """
    forwarded = {key: os.environ[key] for key in FORWARDED if key in os.environ}
    env_vars = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", **forwarded, **env}
    options: dict[str, Any] = {"num_cpus": num_cpus, "num_gpus": num_gpus, "runtime_env": {"env_vars": env_vars}}
    return options if name is None else {**options, "name": name, "namespace": NAMESPACE}


def find(name: str) -> ActorHandle | None:
    """The live actor of that name, or None."""
    try:
        return ray.get_actor(name, namespace=NAMESPACE)
    except ValueError:
        return None


def kill_attempt(run_id: str, attempt: int) -> list[str]:
    """Kill all actors of an attempt, the controller first so that it replaces nothing. Returns their names."""
    controller = controller_name(run_id, attempt)
    names = [entry["name"] for entry in ray.util.list_named_actors(all_namespaces=True)]
    doomed = sorted(name for name in names if name == controller or name.startswith(f"{controller}/"))
    for name in doomed:
        handle = find(name)
        if handle is not None:
            ray.kill(handle, no_restart=True)
    return doomed


def check_resources(num_cpus: float, what: str = "run") -> None:
    """Refuse a run, or other work, that the cluster could never place.

    Raises:
        ClusterError: the cluster has fewer CPUs in all than the work reserves.
    """
    total = ray.cluster_resources().get("CPU", 0.0)
    if total < num_cpus:
        raise ClusterError(f"The {what} needs {num_cpus:g} CPUs for engines and learners; the cluster has {total:g}.")
