"""The link's secrets. They are derived, so that a start message can be sent again although only a hash is stored."""

import base64

from django.utils.crypto import salted_hmac

PREFIX = "lnk_"


def link_token(run_id: str, attempt: int) -> str:
    """The secret of one attempt: an HMAC of run and attempt under the installation's secret key (256 bits)."""
    digest = salted_hmac("dressage.runs.link", f"{run_id}:{attempt}", algorithm="sha256").digest()
    return PREFIX + base64.urlsafe_b64encode(digest).decode().rstrip("=")
