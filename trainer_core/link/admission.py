"""Admission of a worker: how it gets the token of the attempt or job that it works on.

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
    """Secret of one attempt or job: the bearer's token of everything else on the link."""


def attempt_path(run_id: str, attempt: int) -> str:
    """Path at which the token of an attempt is asked for."""
    return f"/api/v1/link/runs/{run_id}/attempts/{attempt}/token"


def lost_path(run_id: str, attempt: int) -> str:
    """Path at which a worker of the cluster reports that the controller of an attempt is dead."""
    return f"/api/v1/link/runs/{run_id}/attempts/{attempt}/lost"


def proof(secret: str, link_url: str, path: str) -> str:
    """HMAC-SHA256 of the whole address under the cluster's secret, as 64 hexadecimal digits.

    The platform's own address is part of it: a proof that was made for another one, which somebody has named in a
    message to the queue, opens nothing here.
    """
    text = "\n".join((_PURPOSE, link_url.rstrip("/"), path))
    return hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()
