"""Processor time that a request may use in other processes, and the team that it counts against."""

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass
class CheckAllowance:
    """What is left to one request."""

    key: str
    """Requests with the same key share their turns."""
    left_s: float


CHECKS_S = 5.0
"""Processor time for the checks of all texts of one request."""

_current: ContextVar[CheckAllowance | None] = ContextVar("allowance", default=None)


def begin(key: str) -> None:
    """Begin a request of ``key``, in its thread."""
    _current.set(CheckAllowance(key, CHECKS_S))


def current() -> CheckAllowance:
    """The request's allowance; outside of requests, a new one each time."""
    return _current.get() or CheckAllowance("", CHECKS_S)
