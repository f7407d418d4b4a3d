"""Reports a cluster's size to the platform."""

import httpx

from trainer_core.link import version
from trainer_core.link.admission import SCHEME, proof
from trainer_core.link.cluster import ClusterReport, report_path
from worker.link.admission import TIMEOUT_S, cluster_secret


def tell_size(link_url: str, cluster: str, report: ClusterReport) -> None:
    """Report the size of the named cluster to the platform at ``link_url``.

    Raises:
        ClusterError: this process has no secret to authenticate with.
        httpx.HTTPError: the platform does not answer, or refuses.
    """
    path = report_path(cluster)
    headers = {"Authorization": f"{SCHEME} {proof(cluster_secret(), link_url, path)}", **version.header()}
    response = httpx.post(link_url.rstrip("/") + path, json=report.wire(), headers=headers, timeout=TIMEOUT_S)
    response.raise_for_status()
