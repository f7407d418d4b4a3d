"""Starts the engines for judges that the cluster itself serves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import ray

from trainer_core.link.judge import JudgeEndpoint
from worker.cluster import actors as cluster
from worker.cluster.closed import check_closed
from worker.cluster.placement import place, usable_gpus
from worker.judge.embedding import EmbeddingServer
from worker.judge.served import JudgeServer, ServeConfig

SERVER_CPUS = 1.0
"""CPUs reserved with Ray per engine."""
SERVERS_UP_S = 600.0
"""Seconds that an engine may take to be placed and to start, if a separate job needs it."""


@dataclass(frozen=True, slots=True)
class JudgeServers:
    """Engines that are starting or running."""

    handles: Mapping[str, Any]
    """Actors, by slug."""
    started: list[ray.ObjectRef]
    """One ref per engine, with its start time in seconds."""

    def close(self) -> None:
        """Kill the engines."""
        for handle in self.handles.values():
            ray.kill(handle, no_restart=True)


def served(judges: Mapping[str, JudgeEndpoint]) -> dict[str, JudgeEndpoint]:
    """Endpoints that need an engine on the cluster."""
    return {slug: judge for slug, judge in judges.items() if judge.model_dir is not None}


def start_servers(
    judges: Mapping[str, JudgeEndpoint],
    name: Callable[[str], str],
    gpus: float = 0.0,
    server: type[JudgeServer | EmbeddingServer] = JudgeServer,
    cpus: float = SERVER_CPUS,
) -> JudgeServers:
    """Start an engine for each judge that needs one.

    Args:
        judges: by slug.
        name: returns the actor name for a slug.
        gpus: GPUs that each reserves.
        server: actor class.
        cpus: CPUs that each reserves.
    """
    handles, started = {}, []
    for slug, judge in served(judges).items():
        assert judge.model_dir is not None
        options = cluster.actor_options(name(slug), cpus, gpus)
        handle = ray.remote(server).options(**options, max_concurrency=judge.max_in_flight + 1).remote()
        handles[slug] = handle
        started.append(handle.start.remote(ServeConfig(judge.model_dir, judge.max_in_flight)))
    return JudgeServers(handles, started)


def bring_up(
    judges: Mapping[str, JudgeEndpoint],
    what: str,
    name: Callable[[str], str],
    server: type[JudgeServer | EmbeddingServer] = JudgeServer,
    cpus: float = SERVER_CPUS,
) -> JudgeServers:
    """Start an engine for each judge that needs one, and wait for them. If one fails, the others are closed.

    Args:
        judges: by slug.
        what: the kind of job that needs them, for messages.
        name: returns the actor name for a slug.
        server: actor class.
        cpus: CPUs that each reserves.

    Raises:
        ClusterError: the cluster is too small.
        GetTimeoutError: an engine was not up in time.
        RayTaskError: an engine could not start; RayError if it was lost.
    """
    needed = served(judges)
    check_closed()
    cluster.check_resources(cpus * len(needed), what)
    servers = start_servers(needed, name, place(len(needed), 0, usable_gpus()).gpus, server, cpus)
    try:
        ray.get(servers.started, timeout=SERVERS_UP_S)
    except BaseException:
        servers.close()
        raise
    return servers
