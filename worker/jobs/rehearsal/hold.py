"""Holds a rehearsal: picks prompts, has them sampled and graded, and reports the results."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet

from trainer_core.link.bundle import Bundle
from trainer_core.link.rehearsal import DevicePeak, RehearsalFinding, RehearsalJob, RehearsalProgress, RehearsalReport
from worker.errors import StartError
from worker.jobs.rehearsal.report import Seen, report
from worker.jobs.rehearsal.startup import RehearsalParts, RehearsalStartup
from worker.link.platform import Platform
from worker.loop.parts import PromptRows
from worker.messages.ticket import Batch
from worker.seeds import derive_seed

log = logging.getLogger(__name__)

MOST_GROUPS = 64
"""Most prompts of all sources together."""
POLL_S = 0.2
PEAK_S = 30.0
"""Time limit for measuring the device's peak. It takes one second if nothing else computes."""

Tell = Callable[[RehearsalProgress], None]


class Deadline:
    """The time that a job has."""

    def __init__(self, limit_s: float, noun: str = "dry run") -> None:
        self._limit_s, self._noun, self._started = limit_s, noun, time.monotonic()

    @property
    def seconds(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self._started

    @property
    def is_over(self) -> bool:
        """Whether time is up."""
        return self.seconds > self._limit_s

    def check(self, doing: str) -> None:
        """Raise StartError once time is up.

        Args:
            doing: what it was doing, and what to do about it, as half a sentence.
        """
        if self.is_over:
            raise StartError(f"The {self._noun} did not finish within {self._limit_s:g} s: {doing}")


def hold(job: RehearsalJob, platform: Platform, deadline: Deadline, tell: Tell) -> RehearsalReport:
    """Hold the rehearsal.

    Raises:
        StartError: something cannot work, or takes too long; the message is for the person who rehearses.
        RolloutError: the engine was lost.
    """
    warnings: list[RehearsalFinding] = []

    def notify(title: str, message: str) -> None:
        warnings.append(RehearsalFinding(kind="warning", title=title, message=message))

    startup = RehearsalStartup(job.bundle, platform, notify)
    try:

        def tick(done: int, total: int) -> None:
            tell(RehearsalProgress(phase="loading", done=done, total=total))
            deadline.check(
                "its engine or its graders did not start. An engine needs a GPU that no run holds: try again when one"
                " is free."
            )

        parts = startup.open(MOST_GROUPS, tick)
        started = deadline.seconds
        batch = _batch(job, parts)
        _sample(job.bundle, parts, batch, deadline, tell)
        worked = deadline.seconds - started
        return report(Seen(job.bundle, parts, batch, tuple(warnings), started, worked, _peak(job.bundle, parts)))
    finally:
        startup.close()


def _peak(bundle: Bundle, parts: RehearsalParts) -> DevicePeak | None:
    """Peak of the engine's device for the learner's number type; None if it cannot be measured, which is no failure."""
    try:
        return parts.generation.engines.peak(bundle.spec.policy.dtype).result(timeout=PEAK_S)
    except Exception as error:
        log.warning("the device's peak was not measured: %s: %s", type(error).__name__, error)
        return None


def _batch(job: RehearsalJob, parts: RehearsalParts) -> Batch:
    """Groups of the first step, as the run's own dispatch would create them, spread evenly over each source's rows."""
    spec = job.bundle.spec
    weighed = [source.name for source in spec.data.sources if source.weight > 0]
    names = weighed or [source.name for source in spec.data.sources]
    each = max(1, min(job.prompts, MOST_GROUPS // len(names)))
    places = [(name, row) for name in names[:MOST_GROUPS] for row in _rows(parts.sources[name], each)]
    tickets = [
        parts.dispatcher.ticket(f"1-{number}", f"{name}:{row}", job.samples)
        for number, (name, row) in enumerate(places)
    ]
    return Batch(1, tickets)


def _rows(data: PromptRows, count: int) -> list[int]:
    total = len(data.rows)
    return list(range(total)) if total <= count else [place * total // count for place in range(count)]


def _sample(bundle: Bundle, parts: RehearsalParts, batch: Batch, deadline: Deadline, tell: Tell) -> None:
    """Have the batch sampled and scored, and wait for it."""
    total = len(batch.tickets)
    tell(RehearsalProgress(phase="generating", done=0, total=total))
    seed = derive_seed(bundle.spec.schedule.seed, "rehearsal")
    scored: Future[Batch] = parts.generation.evaluate(
        batch, seed, True, lambda done, all_: tell(RehearsalProgress(phase="generating", done=done, total=all_))
    )
    while True:
        parts.generation.check()
        deadline.check("the answers take long. Use fewer prompts and samples, or a lower rollout.max_tokens.")
        try:
            scored.result(timeout=POLL_S)
            return
        except NotYet:
            if scored.done():
                raise
