"""Reasons that graders tell for their grades: what they have read, what it was compared with, what failed.

A grader calls ``tell`` while it grades, as often as it has something to say; whoever wants to know opens ``told``
around the grade. So a grade stays a number, and a grader that tells nothing is no fault. Reasons show no tests of a
dataset's row: a test is named by its number.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

MAX_REASON = 600
"""Characters of a part's reason that are kept."""
_MAX_QUOTED = 160
"""Characters of a text that a reason quotes."""
_told: ContextVar[list[str] | None] = ContextVar("told", default=None)


@dataclass(frozen=True, slots=True)
class Explained:
    """A part of a reward, explained."""

    weight: float
    """The weight that its grade was multiplied by."""
    reason: str | None
    """The grader's own reason, cut visibly at ``MAX_REASON`` characters; None where it told none."""


@contextmanager
def told() -> Iterator[list[str]]:
    """The reasons that are told inside the block, in their order."""
    found: list[str] = []
    token = _told.set(found)
    try:
        yield found
    finally:
        _told.reset(token)


def tell(reason: str) -> None:
    """Tell a reason for the grade in hand. Nothing happens where nobody asks."""
    found = _told.get()
    if found is not None and reason:
        found.append(reason)


def joined(reasons: list[str]) -> str | None:
    """Reasons as one text of at most ``MAX_REASON`` characters; None without any."""
    return cut("\n".join(reasons)) if reasons else None


def cut(text: str, most: int = MAX_REASON) -> str:
    """``text``, or its beginning with a mark that says how long it was. Halves of surrogate pairs become U+FFFD."""
    text = text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")
    if len(text) <= most:
        return text
    mark = f"… [cut: {len(text)} characters]"
    return f"{text[: most - len(mark)]}{mark}"


def quoted(text: str) -> str:
    """A short quotation of ``text``: its white space in single spaces, its end left out where it is long."""
    line = " ".join(text.split())
    return f"“{line}”" if len(line) <= _MAX_QUOTED else f"“{line[:_MAX_QUOTED]}…”"
