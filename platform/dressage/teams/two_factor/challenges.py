"""WebAuthn challenges: stored in the session, and valid once."""

import hashlib
import secrets
import time
from typing import Any, Literal

from django.core.cache import cache
from django.http import HttpRequest
from webauthn.helpers import base64url_to_bytes, bytes_to_base64url

from dressage.common.api.problems import conflict

Purpose = Literal["register", "sign in"]
_KEY = "passkey_challenge"
GOOD_FOR_S = 300.0


def new_challenge(request: HttpRequest, purpose: Purpose) -> bytes:
    """A challenge for one answer of this session; an earlier one is forgotten."""
    challenge = secrets.token_bytes(32)
    text = bytes_to_base64url(challenge)
    request.session[_KEY] = {"challenge": text, "purpose": purpose, "at": time.time()}
    return challenge


def take_challenge(request: HttpRequest, purpose: Purpose) -> bytes:
    """The session's challenge, which this uses up, even with concurrent requests.

    Raises:
        Problem: 409 if there is none for this purpose, or it was used or is five minutes old.
    """
    kept: Any = request.session.pop(_KEY, None)
    if kept and kept["purpose"] == purpose and 0 <= time.time() - kept["at"] < GOOD_FOR_S:
        digest = hashlib.sha256(kept["challenge"].encode()).hexdigest()
        # Two requests may have read the same session: the first to set the mark gets the challenge.
        if cache.add(f"passkey-challenge:{digest}", True, timeout=2 * GOOD_FOR_S):
            return base64url_to_bytes(kept["challenge"])
    raise conflict("The challenge was already used, or is more than five minutes old. Try again.", code="no_challenge")
