"""The Ray cluster: connect to it, and name, find and kill the actors of an attempt."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import ray
from ray.actor import ActorHandle

from worker.errors import ClusterError

NAMESPACE = "dressage"
GROWS_TO = "CLUSTER_GROWS_TO"
"""Variable that holds the resources, such as ``CPU=64,GPU=8``, up to which an autoscaler adds nodes."""
FORWARDED = (
    "OMP_WAIT_POLICY",
    "VLLM_CPU_OMP_THREADS_BIND",
    "RENDEZVOUS_PORTS",
    "GATEWAY_HOST",
    "GATEWAY_PORTS",
    "NETWORK_IS_PRIVATE",
    GROWS_TO,
)
"""Settings of the installation that actors also need. Node-specific settings come from the node: paths of its token and
certificates, and names of its interfaces."""


@contextmanager
def connected() -> Iterator[None]:
    """A short-lived connection to the cluster of ``RAY_ADDRESS``.

    It is short-lived because Ray ends a connected driver a minute after the cluster dies.
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


def worker_name(run_id: str, attempt: int, role: str, index: int, generation: int = 0) -> str:
    """Name of a worker actor; ``generation`` counts its replacements."""
    return f"{controller_name(run_id, attempt)}/{role}-{index}.{generation}"


def actor_options(name: str | None, num_cpus: float = 0.0, num_gpus: float = 0.0, **env: str) -> dict[str, Any]:
    """Options of every actor of a run.

    ``num_cpus`` is what Ray reserves, not what is used. Controller and reward workers reserve nothing, so that a run
    fits on two cores: one for the engine, one for the learner. An actor sees only the GPUs that it reserves. Each has
    one OpenMP thread: thread pools of two processes on shared cores slow each other down by an order of magnitude. The
    variable must be set before torch is imported.
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


def missing(names: Iterable[str]) -> list[str]:
    """Names of which no actor lives, starts or waits for room. Raises Ray's own error if Ray does not answer."""
    listed = {entry["name"] for entry in ray.util.list_named_actors(all_namespaces=True)}
    return [name for name in names if name not in listed and find(name) is None]


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


def grows_to() -> dict[str, float]:
    """Total resources once an autoscaler has added all nodes that it may; empty without an autoscaler.

    Raises:
        ClusterError: ``CLUSTER_GROWS_TO`` cannot be read.
    """
    asked = os.environ.get(GROWS_TO, "")
    try:
        return {kind.strip(): float(amount) for kind, amount in (part.split("=") for part in asked.split(",") if part)}
    except ValueError as error:
        raise ClusterError(f"{GROWS_TO}={asked!r} cannot be read. Write it as CPU=64,GPU=8.") from error


def resources(kind: str) -> float:
    """Amount of a kind of resource, ``CPU`` or ``GPU``, that the cluster has or may grow to."""
    return max(float(ray.cluster_resources().get(kind, 0.0)), grows_to().get(kind, 0.0))


def head_node() -> str | None:
    """Id of the cluster's head node; None if it cannot be identified."""
    return next((node["NodeID"] for node in ray.nodes() if "node:__internal_head__" in node["Resources"]), None)


def check_resources(num_cpus: float, what: str = "run") -> None:
    """Refuse a run or other work that the cluster could never place.

    Raises:
        ClusterError: the cluster has fewer CPUs in total than the work reserves.
    """
    total = resources("CPU")
    if total < num_cpus:
        raise ClusterError(f"The {what} needs {num_cpus:g} CPUs for engines and learners; the cluster has {total:g}.")
