"""Rules of what is tried again, and after how long."""

import random
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

FIRST_S = 0.5
LONGEST_S = 30.0
LONGEST_ASKED_S = 300.0
"""An endpoint that asks for more patience gets only so much."""
SPREAD_S = 0.25
"""Seconds over which questions that an endpoint sent away together come back."""
TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Statuses of an endpoint that may well answer the next time."""


class Transient(Exception):
    """Failure of one try; another may succeed. ``after_s``: what the endpoint asked for."""

    def __init__(self, message: str, after_s: float | None = None) -> None:
        super().__init__(message)
        self.after_s = after_s


def pause_s(attempt: int, after_s: float | None = None) -> float:
    """Seconds before the next try: exponential with full jitter, or what the endpoint asked for and a little more.

    Args:
        attempt: tries that have failed, from 1.
        after_s: the endpoint's ``Retry-After``.
    """
    if after_s is not None:
        return min(after_s, LONGEST_ASKED_S) + random.uniform(0.0, SPREAD_S)
    return random.uniform(0.0, min(FIRST_S * 2 ** min(attempt, 16), LONGEST_S))


def retry_after(header: str | None) -> float | None:
    """Seconds of a ``Retry-After`` header, which holds seconds or a date; None where there is none to be read."""
    if header is None:
        return None
    try:
        return max(float(header), 0.0)
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(header)
    except ValueError:
        return None
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return max((moment - datetime.now(UTC)).total_seconds(), 0.0)
