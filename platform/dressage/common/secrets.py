"""The hash of secrets that the platform hands out, and keeps nothing else of."""

import hashlib


def secret_hash(secret: str) -> str:
    """SHA-256 as 64 hexadecimal digits. A secret has 256 random bits, so a plain hash cannot be searched."""
    return hashlib.sha256(secret.encode()).hexdigest()
