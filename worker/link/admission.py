"""Admission: a worker of the cluster requests from the platform the token for its work."""

import os
from http.client import UNAUTHORIZED
from pathlib import Path

import httpx
from pydantic import ValidationError

from trainer_core.link import version
from trainer_core.link.admission import SCHEME, Admission, proof
from trainer_core.link.refusal import FENCED_OR_GONE
from worker.errors import ClusterError, FencedError
from worker.link.answers import refusal

SECRET, SECRET_FILE = "DRESSAGE_CLUSTER_SECRET", "DRESSAGE_CLUSTER_SECRET_FILE"
"""Environment variables with the cluster's secret, or with the path of the file that holds it."""
TIMEOUT_S = 10.0


def cluster_secret() -> str:
    """The secret that the cluster shares with its platform. Raises ClusterError if this process has none."""
    if given := os.environ.get(SECRET):
        return given
    path = os.environ.get(SECRET_FILE)
    if not path:
        raise ClusterError(f"Neither {SECRET} nor {SECRET_FILE} is set: this worker cannot authenticate.")
    try:
        return Path(path).read_text().strip()
    except OSError as error:
        raise ClusterError(f"The cluster's secret cannot be read from {path}: {error.strerror}.") from error


def fetch_token(link_url: str, path: str) -> str:
    """The token of an attempt or a bench job.

    Args:
        link_url: address of the platform.
        path: address of the token, as ``trainer_core.link.admission`` spells it.

    Raises:
        FencedError: the platform refuses: the work does not exist, is over, or already has a worker.
        ClusterError: this process has no secret or a wrong one, or the platform does not answer. The platform's next
            message may succeed.
    """
    headers = {"Authorization": f"{SCHEME} {proof(cluster_secret(), link_url, path)}", **version.header()}
    try:
        response = httpx.post(link_url.rstrip("/") + path, headers=headers, timeout=TIMEOUT_S)
        if response.status_code == UNAUTHORIZED:
            raise ClusterError(
                f"The platform at {link_url} does not accept this worker: {SECRET} (or the file of {SECRET_FILE}) is"
                " missing there or wrong here, or the platform has another address (LINK_URL)."
            )
        if response.status_code in FENCED_OR_GONE:
            raise FencedError(f"the platform issues no token: {refusal(response)}")
        response.raise_for_status()
        return Admission.model_validate_json(response.content).token
    except (httpx.HTTPError, ValidationError) as error:
        raise ClusterError(f"The platform at {link_url} issues no token: {type(error).__name__}.") from error
