"""The secret of one bench job: derived, so that the job can be enqueued again although only a hash is stored."""

import base64

from django.utils.crypto import salted_hmac

PREFIX = "bnc_"


def bench_token(job_id: str) -> str:
    """An HMAC of the job's id under the installation's secret key (256 bits)."""
    # The salt is the room's former name: tokens of open jobs stay good.
    digest = salted_hmac("dressage.rewards.bench", job_id, algorithm="sha256").digest()
    return PREFIX + base64.urlsafe_b64encode(digest).decode().rstrip("=")
