"""Whether a cluster is closed. Ray runs code from anyone who reaches its ports, unless it requires authentication."""

from __future__ import annotations

import os

import ray

from worker.cluster.network import is_loopback
from worker.errors import ClusterError

PRIVATE = "NETWORK_IS_PRIVATE"
"""Variable by which an operator declares that the cluster's network is private."""


def check_closed() -> None:
    """Refuse a cluster that others may reach and that requires neither Ray's token nor certificates.

    Call it in an actor on the head. Its environment is that of the head's ``ray start``, which the GCS shares, and a
    node without the credentials that the GCS requires cannot join. The credentials of the process that starts runs do
    not count.

    Raises:
        ClusterError: it is reachable from other machines and open.
    """
    open_to = [node["NodeManagerAddress"] for node in ray.nodes() if node["Alive"]]
    reachable = sorted({address for address in open_to if not is_loopback(address)})
    if not reachable or _is_on(PRIVATE) or is_token_asked() or _is_on("RAY_USE_TLS"):
        return
    raise ClusterError(
        f"The Ray cluster listens on {', '.join(reachable[:3])} without authentication: anyone who can reach it can run"
        " code on every node. Start Ray on all nodes, and the workers, with RAY_AUTH_MODE=token and RAY_AUTH_TOKEN_PATH"
        f" (or with RAY_USE_TLS=1 and its certificates). If no one else can reach that network, set {PRIVATE}=true."
    )


def is_token_asked() -> bool:
    """Whether this process, and therefore the node that started it, uses Ray's token."""
    return os.environ.get("RAY_AUTH_MODE", "").lower() == "token"


def _is_on(variable: str) -> bool:
    return os.environ.get(variable, "").lower() in ("1", "true")
