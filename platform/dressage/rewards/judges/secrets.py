"""Keys of judges at rest: Fernet (AES-128-CBC with HMAC-SHA256) under a key derived from the installation's secret.

Source: RFC 5869 (HKDF). The derivation's ``info`` keeps these keys apart from everything else that the secret signs.
"""

import base64

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.utils.encoding import force_bytes

_PURPOSE = b"dressage.rewards.judges.api_key"


class UnsealError(ValueError):
    """The stored key cannot be read: the installation's secret has changed since it was stored."""


def seal(secret: str) -> str:
    """``secret``, encrypted."""
    return _box().encrypt(secret.encode()).decode()


def unseal(sealed: str) -> str:
    """Open what was sealed. Raises UnsealError when it was sealed under another secret, or has been tampered with."""
    try:
        return _box().decrypt(sealed.encode()).decode()
    except InvalidToken as error:
        raise UnsealError("The stored key was sealed under another secret of the installation.") from error


def _box() -> MultiFernet:
    """Seals under the present secret and reads those before it as well."""
    return MultiFernet([_fernet(secret) for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])


def _fernet(secret: str | bytes) -> Fernet:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=_PURPOSE).derive(force_bytes(secret))
    return Fernet(base64.urlsafe_b64encode(derived))
