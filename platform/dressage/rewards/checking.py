"""Compiles text that callers wrote in a grading process, so that no text occupies the web process.

Definitions are read again whenever they are used, so verdicts are remembered.
"""

import hashlib
import threading
from collections import OrderedDict

from django.db import connection

from dressage.common.api import allowance
from dressage.common.api.problems import Problem
from dressage.rewards.grading import WAIT_S, busy, places
from trainer_core.rewards.errors import GraderStopped, JobTooHeavy
from trainer_core.rewards.isolated.places import NoPlace
from trainer_core.rewards.isolated.process import GradeLimits
from trainer_core.spec.untrusted import Check

CHECK = GradeLimits(cpu_s=2.0, wall_s=30.0)
"""Limits of one check."""
_LEAST_S = 0.01
MOST_KEPT = 4096
"""Verdicts that are remembered. Each is at most a sentence."""

_lock = threading.Lock()
_kept: OrderedDict[tuple[str, bytes], str | None] = OrderedDict()
"""Verdicts by the check's name and the text's digest, the least recently used first."""


def check_elsewhere(check: Check, text: str) -> str | None:
    """Verdict of ``check`` on ``text``; a text that exceeds a limit has that as its fault.

    Raises:
        Problem: 429 or 503 if too many requests wait for a process, or there is none.
    """
    key = (check.__qualname__, hashlib.sha256(text.encode(errors="surrogatepass")).digest())
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    fault, is_final = _checked(check, text)
    if is_final:
        with _lock:
            _kept[key] = fault
            while len(_kept) > MOST_KEPT:
                _kept.popitem(last=False)
    return fault


def _checked(check: Check, text: str) -> tuple[str | None, bool]:
    """(fault, whether it is the text's alone)."""
    left = allowance.current()
    if left.left_s < _LEAST_S:
        return f"not checked: the texts before it took {allowance.CHECKS_S:g} s of processor time; shorten them", False
    if not connection.in_atomic_block:
        connection.close()  # waiting threads must not hold connections that others need
    limits = GradeLimits(cpu_s=min(CHECK.cpu_s, left.left_s), wall_s=CHECK.wall_s)
    try:
        with places().place(left.key, WAIT_S) as process:
            before = process.spent_s
            try:
                return process.check(check, text, limits), True
            finally:
                left.left_s -= process.spent_s - before
    except JobTooHeavy as error:
        return f"too costly to read: {error}; make it shorter or simpler", limits == CHECK
    except NoPlace as error:
        raise busy(error) from error
    except GraderStopped as error:
        raise Problem(
            503, "Service unavailable", f"The text could not be checked: {error}.", code="graders_busy"
        ) from error
