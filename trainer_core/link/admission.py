"""Admission of a worker: how it gets the token of the attempt, bench job or rehearsal that it shall work on.

Messages in the queue carry no secret. A worker of the cluster shares one secret with its platform, which never travels:
it proves that it has it, for one address, and is answered with the token that is good for this work alone.
"""

import hashlib
import hmac
from typing import Final

from trainer_core.link.base import Message

SCHEME: Final = "Cluster"
"""Scheme of the ``Authorization`` header: ``Cluster <proof>``."""
_PURPOSE: Final = "dressage.link.admission"


class Admission(Message):
    """The platform's answer."""

    token: str
    """Secret of one attempt, bench job or rehearsal: the bearer's token of everything else on the link."""


def attempt_path(run_id: str, attempt: int) -> str:
    """Path at which the token of an attempt is asked for."""
    return f"/api/v1/link/runs/{run_id}/attempts/{attempt}/token"


def bench_path(job_id: str) -> str:
    """Path at which the token of a bench job is asked for."""
    return f"/api/v1/link/bench/{job_id}/token"


def rehearsal_path(rehearsal_id: str) -> str:
    """Path at which the token of a rehearsal is asked for."""
    return f"/api/v1/link/rehearsals/{rehearsal_id}/token"


def profile_path(profile_id: str) -> str:
    """Path at which the token of a profile is asked for."""
    return f"/api/v1/link/profiles/{profile_id}/token"


def serving_path(serving_id: str) -> str:
    """Path at which the token of a serving is asked for."""
    return f"/api/v1/link/servings/{serving_id}/token"


def proof(secret: str, link_url: str, path: str) -> str:
    """HMAC-SHA256 of the whole address under the cluster's secret, as 64 hexadecimal digits.

    The platform's own address is part of it: a proof that was made for another one, which somebody has named in a
    message to the queue, opens nothing here.
    """
    text = "\n".join((_PURPOSE, link_url.rstrip("/"), path))
    return hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()
