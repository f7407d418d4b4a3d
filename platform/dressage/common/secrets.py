"""The hash of secrets that the platform issues. Nothing else of them is stored."""

import hashlib


def secret_hash(secret: str) -> str:
    """SHA-256 as 64 hexadecimal digits. A secret has 256 random bits, so a plain hash cannot be brute-forced."""
    return hashlib.sha256(secret.encode()).hexdigest()
