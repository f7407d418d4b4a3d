"""Runs pure graders in the web tier, in separate processes that editors of all teams share fairly.

A grader in an endless loop occupies one process until its processor time is used up, and does not affect this one.
"""

import atexit
import logging
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

from django.db import connection

from dressage.common.api.problems import Problem
from dressage.teams.models import Team
from trainer_core.rewards.errors import GraderStopped
from trainer_core.rewards.grader_model import GraderModel
from trainer_core.rewards.isolated.places import NoPlace, Places
from trainer_core.rewards.isolated.process import GradeLimits, GradingProcess, TemplateProcess
from trainer_core.rewards.sample import Sample

log = logging.getLogger(__name__)

PROCESSES = 3
"""Grading processes per web process."""
MOST_PER_TEAM = 2
"""Maximum number of processes per team, so that one is always left for others."""
MOST_WAITING, MOST_WAITING_PER_TEAM = 12, 6
"""Maximum number of requests that wait for a process. Each holds a thread."""
WAIT_S = 20.0
NICE = 10
"""Graders have lower priority than the web process itself."""
GRADE = GradeLimits(cpu_s=2.0, wall_s=20.0)
"""Limits for one grade."""
REQUEST = GradeLimits(cpu_s=5.0, wall_s=30.0)
"""Limits for all grades of one request together."""


class SpentError(GraderStopped):
    """The request has used up its time."""


class Grading:
    """Implements ``trainer_core.rewards.graders.tools.PureGrading`` within the limits of one request."""

    def __init__(self, process: GradingProcess) -> None:
        self._process, self._spent_s = process, process.spent_s
        self._end = time.monotonic() + REQUEST.wall_s

    def check(self) -> None:
        """Raises SpentError if the time is used up."""
        if self._process.spent_s - self._spent_s >= REQUEST.cpu_s:
            raise SpentError(f"not scored: earlier samples took {REQUEST.cpu_s:g} s of processor time")
        if time.monotonic() >= self._end:
            raise SpentError(f"not scored: earlier samples took {REQUEST.wall_s:g} s; the machine is busy, try again")

    def grade(self, grader: GraderModel, sample: Sample, item: Mapping[str, Any]) -> float:
        self.check()
        return self._process.grade(grader, sample, item, GRADE)


def places() -> Places:
    """The processes of this web process, started at the first call."""
    with _one_at_a_time:
        return _places()


_one_at_a_time = threading.Lock()
"""Needed because `cache` alone would let two early callers, such as a request and the early start, each start them."""


@cache
def _places() -> Places:
    made = Places(
        PROCESSES,
        most_per_key=MOST_PER_TEAM,
        most_waiting=MOST_WAITING,
        most_waiting_per_key=MOST_WAITING_PER_TEAM,
        template=TemplateProcess(nice=NICE),
    )
    atexit.register(made.close)
    return made


def start_early() -> None:
    """Load the graders in the background, so that the first user does not wait for it."""
    threading.Thread(target=_load_graders, name="load graders", daemon=True).start()


def _load_graders() -> None:
    try:
        places().template.start()
    except GraderStopped:
        log.exception("the graders are not loaded: the first request loads them, or reports why not")


@contextmanager
def grading(team: Team) -> Iterator[Grading]:
    """A process for one request of a team.

    Raises:
        Problem: 429 if too many requests of the team are waiting, 503 if too many of all teams are. Both say when to
            retry.
    """
    if not connection.in_atomic_block:
        connection.close()  # waiting threads must not hold connections that others need
    try:
        with places().place(str(team.pk), WAIT_S) as process:
            yield Grading(process)
    except NoPlace as error:
        raise busy(error) from error


def busy(error: NoPlace) -> Problem:
    """429 or 503, depending on whose requests are waiting."""
    headers = {"Retry-After": str(error.retry_after_s)}
    again = f"Try again in {error.retry_after_s} s."
    if error.own:
        detail = f"Your team tests too many rewards at the same time: {error}. {again}"
        return Problem(429, "Too many requests", detail, code="too_many_tries", headers=headers)
    detail = f"All grading processes are in use: {error}. {again}"
    return Problem(503, "Service unavailable", detail, code="graders_busy", headers=headers)
