"""Slows the guessing of passwords: per address and per account."""

import hashlib
from collections.abc import Mapping
from typing import Any

from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle


class _GuessThrottle(SimpleRateThrottle):
    """Counts attempts in Redis. A success gives its attempt back, so that honest use is never slowed."""

    scope = "login"
    duration: int
    """Seconds that an attempt counts; parsed by the base from the rate in the settings."""

    def give_back(self) -> None:
        """The attempt was a success."""
        if self.key is None:
            return
        history = self.cache.get(self.key, [])
        self.cache.set(self.key, history[1:], self.duration)


class AddressThrottle(_GuessThrottle):
    """Per client address. Forwarded-for headers are not read here: anyone may send them."""

    def get_cache_key(self, request: Request, view: Any) -> str:
        return self.cache_format % {"scope": "login_address", "ident": request.META.get("REMOTE_ADDR", "")}


class AccountThrottle(_GuessThrottle):
    """Per account that is tried, whether it exists or not, from wherever."""

    def get_cache_key(self, request: Request, view: Any) -> str:
        given = request.data.get("email", "") if isinstance(request.data, Mapping) else ""
        account = getattr(request.user, "email", None) or str(given)
        ident = hashlib.sha256(account.strip().lower().encode()).hexdigest()
        return self.cache_format % {"scope": "login_account", "ident": ident}
