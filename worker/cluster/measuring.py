"""Size of a Ray cluster, and the demand passed to its autoscaler: directly through the GCS, without a driver.

Connecting a driver costs a second of CPU time, and these calls come every few seconds.
"""

import json
import socket
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import ray
from ray._common.usage import usage_lib
from ray._private import ray_constants
from ray._private.services import canonicalize_bootstrap_address
from ray._raylet import GcsClient  # type: ignore[attr-defined]  # the stub lacks it
from ray.autoscaler.v2.sdk import request_cluster_resources
from ray.core.generated import autoscaler_pb2

from trainer_core.link.cluster import UNKNOWN_KIND, ClusterReport, GpuKind, ResourceBundle
from worker.cluster.placement import built_for_gpus
from worker.errors import ClusterError

TIMEOUT_S = 10
CONNECT_S = 5.0
_KIND = "accelerator_type:"


class NodeState(Protocol):
    """The part of Ray's ``autoscaler_pb2.NodeState`` that is used."""

    status: int
    total_resources: dict[str, float]
    available_resources: dict[str, float]


def gcs_address(address: str | None) -> str:
    """``host:port`` of the cluster's GCS.

    Raises:
        ClusterError: there is no address, it is a Ray client address, or nothing listens there.
    """
    if not address:
        raise ClusterError("RAY_ADDRESS is not set: there is no cluster to run on.")
    if "://" in address:
        raise ClusterError(f"{address} is a Ray client address: give the GCS itself, such as 10.0.0.1:6379.")
    found = _own_cluster() if address == "auto" else address
    host, _, port = found.rpartition(":")
    if not host or not port.isdigit():
        raise ClusterError(f"{address!r} is not the address of a Ray cluster: write host:port, such as 10.0.0.1:6379.")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_S).close()
    except OSError as error:
        raise ClusterError(
            f"The Ray cluster at {found} cannot be reached: {error}. Check that its head is running and that its GCS"
            " port is open to this machine."
        ) from error
    return found


def _own_cluster() -> str:
    """The cluster that this machine is a node of. Raises ClusterError if there is none."""
    try:
        return str(canonicalize_bootstrap_address("auto"))
    except ConnectionError as error:
        raise ClusterError(
            f"This machine is not a node of a Ray cluster, as the address 'auto' requires: {error}"
        ) from error


def open_gcs(address: str) -> GcsClient:
    """A client of the GCS at ``host:port``, which must run the same Ray version.

    Raises:
        ClusterError: it rejects our token, does not respond, or its Ray or Python version differs.
    """
    try:
        client = GcsClient(address=address)
        metadata = usage_lib.get_cluster_metadata(client)
    except Exception as error:
        raise ClusterError(f"The Ray cluster at {address} does not answer: {_words(error)}") from error
    _require_same(metadata, address)
    return client


def report(address: str) -> ClusterReport:
    """The cluster's size. Raises ClusterError, as ``gcs_address`` and ``open_gcs`` do."""
    address = gcs_address(address)
    client = open_gcs(address)
    try:
        reply = autoscaler_pb2.GetClusterStatusReply.FromString(client.get_cluster_status(timeout_s=TIMEOUT_S))
    except Exception as error:
        raise ClusterError(f"The Ray cluster at {address} does not report its size: {_words(error)}") from error
    return sized(reply.cluster_resource_state.node_states)


def sized(states: Iterable[NodeState]) -> ClusterReport:
    """The report for nodes in these states. Dead nodes do not count, nor nodes that have not reported resources yet."""
    alive = [
        state for state in states if state.status != autoscaler_pb2.NodeStatus.DEAD and len(state.total_resources) > 0
    ]
    gpus_total, gpus_free = Counter[str](), Counter[str]()
    for state in alive:
        if count := state.total_resources.get("GPU", 0.0):
            kind = _kind(state.total_resources)
            gpus_total[kind] += count  # type: ignore[assignment]  # Ray counts in fractions
            gpus_free[kind] += state.available_resources.get("GPU", 0.0)  # type: ignore[assignment]
    usable = bool(gpus_total) and built_for_gpus()
    return ClusterReport(
        ray_version=ray.__version__,
        nodes=len(alive),
        cpus=_sum(alive, "total_resources", "CPU"),
        cpus_free=_sum(alive, "available_resources", "CPU"),
        gpus=tuple(GpuKind(kind=kind, total=gpus_total[kind], free=gpus_free[kind]) for kind in sorted(gpus_total))
        if usable
        else (),
        memory_bytes=_sum(alive, "total_resources", "memory"),
        memory_free_bytes=_sum(alive, "available_resources", "memory"),
    )


def publish_demand(address: str, demand: Sequence[ResourceBundle]) -> None:
    """Tell the autoscaler what the cluster must be able to hold. An empty demand lets it shrink to its minimum.

    Both of Ray's autoscalers get it: the older one reads a key, the newer one the GCS's constraint. Each call replaces
    the previous demand.

    Raises:
        ClusterError: the GCS does not accept it.
    """
    shapes = [resources(bundle) for bundle in demand for _ in range(bundle.count)]
    try:
        client = GcsClient(address=address)
        request_cluster_resources(address, [{"resources": shape} for shape in shapes], timeout=TIMEOUT_S)
        told = json.dumps(shapes).encode()
        client.internal_kv_put(ray_constants.AUTOSCALER_RESOURCE_REQUEST_CHANNEL, told, True, None, TIMEOUT_S)
    except Exception as error:
        raise ClusterError(f"The autoscaler at {address} did not receive the demand: {_words(error)}") from error


def resources(bundle: ResourceBundle) -> dict[str, float]:
    """The bundle as Ray spells it."""
    named = {"CPU": bundle.cpus, "GPU": bundle.gpus}
    return {name: amount for name, amount in named.items() if amount}


def _kind(total: dict[str, float]) -> str:
    return next((name.removeprefix(_KIND) for name in total if name.startswith(_KIND)), UNKNOWN_KIND)


def _sum(states: Sequence[NodeState], which: str, name: str) -> float:
    return float(sum(getattr(state, which).get(name, 0.0) for state in states))


def _require_same(metadata: dict[str, Any], address: str) -> None:
    ours = {"Ray": ray.__version__, "Python": ".".join(map(str, sys.version_info[:3]))}
    theirs = {"Ray": metadata.get("ray_version"), "Python": metadata.get("python_version")}
    for name, version in theirs.items():
        if version != ours[name]:
            raise ClusterError(
                f"The cluster at {address} has {name} {version}, and this installation {ours[name]}: they must be the "
                "same. Use the image of this release for its nodes."
            )


def _words(error: Exception) -> str:
    """The error's first line. The rest is Ray's own traceback."""
    return str(error).strip().splitlines()[0][:300] if str(error).strip() else type(error).__name__
