"""Reports of a cluster to the platform: its size, and attempts that were lost."""

from typing import Any

import httpx

from trainer_core.link import version
from trainer_core.link.admission import SCHEME, lost_path, proof
from trainer_core.link.cluster import ClusterReport, report_path
from worker.link.admission import TIMEOUT_S, cluster_secret


def tell_size(link_url: str, cluster: str, report: ClusterReport) -> None:
    """Report the size of the named cluster to the platform at ``link_url``.

    Raises:
        ClusterError: this process has no secret to authenticate with.
        httpx.HTTPError: the platform does not answer, or refuses.
    """
    _post(link_url, report_path(cluster), report.wire())


def tell_lost(link_url: str, run_id: str, attempt: int) -> None:
    """Report that the controller of an attempt is dead.

    Raises:
        ClusterError: this process has no secret to authenticate with.
        httpx.HTTPError: the platform does not answer, or refuses: the attempt is over, or it has heard of it since.
    """
    _post(link_url, lost_path(run_id, attempt), {})


def _post(link_url: str, path: str, body: dict[str, Any]) -> None:
    headers = {"Authorization": f"{SCHEME} {proof(cluster_secret(), link_url, path)}", **version.header()}
    response = httpx.post(link_url.rstrip("/") + path, json=body, headers=headers, timeout=TIMEOUT_S)
    response.raise_for_status()
