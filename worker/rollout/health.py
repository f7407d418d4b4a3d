"""Health checks that distinguish a working rollout worker from a hung one."""

from __future__ import annotations

import time

from ray.exceptions import ActorUnavailableError, GetTimeoutError, OwnerDiedError, RayError, RayTaskError

from worker.messages.jobs import EngineLoad

WATCH_S = 5.0
"""Longest silence of a healthy worker."""
SILENT_S = 15.0
"""Seconds without an answer after which a worker on a node that answers counts as stopped. The thread that answers is
not the engine's, so a long step delays no answer."""
HUNG_S = 60.0
"""Seconds without an answer from worker and node, or with unfinished work and no engine step, after which a worker
counts as hung."""
UNREACHED = "could not reach the learner's process"
"""Half a sentence about a worker that finds the weights lost with the process that held them."""


class StoppedError(TimeoutError):
    """A worker does not answer, although its node does."""


class HungError(TimeoutError):
    """A worker answers, but its engine makes no step."""


class HealthWatch:
    """Watches the loads of one worker."""

    def __init__(self) -> None:
        self._since, self._ticks = time.monotonic(), -1

    def look(self, load: EngineLoad) -> None:
        """Raise ``HungError`` if the engine has work but has made no step for ``HUNG_S``."""
        now = time.monotonic()
        if load.idle or load.ticks != self._ticks:
            self._since, self._ticks = now, load.ticks
        elif now - self._since > HUNG_S:
            raise HungError


def reason(error: Exception) -> str:
    """Half a sentence: what the worker did."""
    if isinstance(error, StoppedError):
        return f"did not answer for {SILENT_S:g} s"
    if isinstance(error, GetTimeoutError | HungError):
        return f"made no progress for {HUNG_S:g} s"
    if isinstance(error, RayTaskError):
        return reason(error.cause) if isinstance(error.cause, OwnerDiedError) else f"failed: {error.cause}"
    if isinstance(error, ActorUnavailableError):
        return "was cut off"
    if isinstance(error, OwnerDiedError):
        return UNREACHED
    return "died" if isinstance(error, RayError) else str(error)
