"""The secret of one rehearsal: derived, so that the cluster can be asked again although only a hash is stored."""

import base64

from django.utils.crypto import salted_hmac

PREFIX = "rhs_"


def rehearsal_token(rehearsal_id: str) -> str:
    """An HMAC of the rehearsal's id under the installation's secret key (256 bits)."""
    digest = salted_hmac("dressage.rehearsals", rehearsal_id, algorithm="sha256").digest()
    return PREFIX + base64.urlsafe_b64encode(digest).decode().rstrip("=")
