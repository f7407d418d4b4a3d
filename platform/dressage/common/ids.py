"""Identifiers: prefixed, random, url-safe, impossible to guess or to order."""

import secrets
import string

_ALPHABET = string.ascii_letters + string.digits
_LENGTH = 22  # 62^22 is about 2^131


def new_id(prefix: str) -> str:
    """A fresh identifier such as ``run_8GkQ2…``: the prefix and 22 random letters and digits."""
    return f"{prefix}_" + "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))
