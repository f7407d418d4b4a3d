"""The secret of one job: derived, so that the cluster can be asked again although only a hash is stored."""

import base64

from django.utils.crypto import salted_hmac

from dressage.jobs.models import ClusterJob


def job_token(model: type[ClusterJob], job_id: str) -> str:
    """An HMAC of the job's id under the installation's secret key (256 bits)."""
    digest = salted_hmac(model.token_salt, job_id, algorithm="sha256").digest()
    return model.token_prefix + base64.urlsafe_b64encode(digest).decode().rstrip("=")
