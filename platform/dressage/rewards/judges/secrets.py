"""Encryption of judge keys. Keys from earlier releases are encrypted with a key derived from the Django secret.

Source of that key: RFC 5869 (HKDF). The derivation's ``info`` separates it from everything else that the secret signs.
"""

import base64

from cryptography.fernet import Fernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.utils.encoding import force_bytes

from dressage.common import sealing
from dressage.common.sealing import UnsealError, seal

__all__ = ["UnsealError", "seal", "unseal"]

_PURPOSE = b"dressage.rewards.judges.api_key"


def unseal(sealed: str) -> str:
    """The key. Raises UnsealError if its encryption key is not available, or the text has been tampered with."""
    secrets = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return sealing.unseal(sealed, tuple(_former(secret) for secret in secrets))


def _former(secret: str | bytes) -> Fernet:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=_PURPOSE).derive(force_bytes(secret))
    return Fernet(base64.urlsafe_b64encode(derived))
