"""Errors of graders."""

import re
from collections import Counter
from collections.abc import Iterable

_VARYING = re.compile(r"0x[0-9a-fA-F]+|\d+(?:\.\d+)?")


class GraderError(Exception):
    """A reward that cannot be computed, through no merit or fault of the policy. The message says why."""


class GraderStopped(Exception):
    """A grade that could not be finished within its limits. Never forgiven and never a zero, whatever its component
    says of errors. The message names the grader and the limit."""


class JobTooHeavy(GraderStopped):
    """A job that exceeded its limit of processor time or memory: it would do so again."""


class GraderBug(Exception):
    """An error that a grader in another process did not raise on purpose. The message is ``Type: message``."""

    def __init__(self, message: str, traceback: str) -> None:
        """``traceback``: as Python prints it there."""
        super().__init__(message)
        self.traceback = traceback


def kind(error: str) -> str:
    """The error without what varies: numbers and addresses."""
    return _VARYING.sub("#", error)


def grouped(errors: Iterable[str]) -> list[tuple[str, int]]:
    """Errors that differ only in numbers and addresses, as ``(the first of them, how many)``, the most common first."""
    first: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for error in errors:
        key = kind(error)
        first.setdefault(key, error)
        counts[key] += 1
    return [(first[key], count) for key, count in counts.most_common()]
