"""Joining an existing Ray cluster: whether it can be reached, accepts our token, and has the same Ray version.

The check runs in a process of the worker's tree, because the platform's own processes never load Ray.
"""

import os
import subprocess
import sys

from dressage.cluster_list import NamedCluster
from dressage.config import ROOT
from dressage.supervisor.processes import OF_NO_ACTOR, cluster_environment

LIMIT_S = 60.0


def refusal_of(cluster: NamedCluster) -> str | None:
    """A sentence about why the cluster at an address cannot be joined; None if it can."""
    if cluster.token_file is not None and not os.access(cluster.token_file, os.R_OK):
        return f"The token of its Ray cannot be read from {cluster.token_file}."
    env = {name: value for name, value in os.environ.items() if name not in OF_NO_ACTOR}
    env |= {**cluster_environment(cluster, None), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "worker.cluster.reach", cluster.address or ""]
    try:
        asked = subprocess.run(
            command, env=env, capture_output=True, text=True, timeout=LIMIT_S, check=False, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        return f"The Ray cluster at {cluster.address} has not answered within {LIMIT_S:.0f} s."
    if asked.returncode == 0:
        return None
    told = asked.stdout.strip().splitlines() or asked.stderr.strip().splitlines()
    return told[-1] if told else f"The Ray cluster at {cluster.address} cannot be joined."
