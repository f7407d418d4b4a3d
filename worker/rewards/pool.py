"""The reward workers as seen by the loop: chunks are sent as they finish; a worker that dies or hangs is replaced."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ray
from ray.actor import ActorHandle
from ray.exceptions import GetTimeoutError, RayActorError, RayError, RayTaskError

from trainer_core.link.reward import RewardVersion, Versions
from worker.cluster.notify import Notify
from worker.messages.chunk import Chunk
from worker.rewards.worker import Scored, failed
from worker.scoring.pure import longest_s

SPARE_S = 30.0
"""Time that a chunk may take beyond its trajectories' time-outs before its worker counts as hung."""
TRIES = 2
EQUIP_S = 120.0
"""Longest time that the workers may take to prepare for another reward version."""
START_S = 600.0
"""Longest time that a worker may take to start, including jails and reward models. Scoring is timed after that."""
UNNOTICED_S, AGAIN_S = 120.0, 2.0
"""Longest time that Ray may take to notice a dead node, and seconds between two attempts to create an actor."""

Spawn = Callable[[int, int, Versions], ActorHandle]
"""(index, generation, versions): creates a reward worker."""


@dataclass(slots=True)
class PendingScores:
    """A chunk that is being scored."""

    chunk: Chunk
    items: Sequence[Mapping[str, Any]]
    max_tokens: Sequence[int]
    versions: Sequence[Sequence[str]]
    worker: int
    handle: ActorHandle
    answer: ray.ObjectRef


class RewardPool:
    """Any thread may submit chunks; only one waits for their results."""

    def __init__(self, spawn: Spawn, versions: Versions, size: int, timeout_s: float, notify: Notify) -> None:
        """``spawn`` creates an actor that can score with ``versions``; its ``start`` is called here."""
        self._spawn, self._timeout_s, self._notify = spawn, timeout_s, notify
        self._versions: dict[str, RewardVersion] = dict(versions)
        self._generations = [0] * size
        self._workers = [spawn(index, 0, self._versions) for index in range(size)]
        self.started = [worker.start.remote() for worker in self._workers]
        """One ref per current worker, with its start time in seconds."""
        self._next = 0
        self._closed = False
        self._lock = threading.Lock()

    def equip(self, versions: Versions) -> str | None:
        """Prepare every worker for further versions. Returns None, or a sentence with the reason if this fails."""
        with self._lock:
            before, handles = self._versions, list(self._workers)
            self._versions = {**before, **versions}  # a worker replaced in the meantime starts with them
        try:
            ray.get([handle.equip.remote(versions) for handle in handles], timeout=EQUIP_S)
        except RayTaskError as error:
            trouble = f"the reward workers cannot start: {error.cause}"
        except (GetTimeoutError, RayActorError) as error:
            trouble = f"the reward workers did not start: {str(error).splitlines()[0]}"
        else:
            return None
        with self._lock:
            self._versions = before
        return trouble

    def submit(
        self,
        chunk: Chunk,
        items: Sequence[Mapping[str, Any]],
        max_tokens: Sequence[int],
        versions: Sequence[Sequence[str]],
    ) -> PendingScores:
        """Send a chunk to the next worker. The other arguments are those of ``RewardWorker.score``, shape [M] each."""
        with self._lock:
            index = self._next
            self._next = (index + 1) % len(self._workers)
            handle = self._workers[index]
        answer = handle.score.remote(chunk, list(items), list(max_tokens), list(versions))
        return PendingScores(chunk, items, max_tokens, versions, index, handle, answer)

    def result(self, pending: PendingScores) -> Scored:
        """Wait for a chunk's scores. After a second failure its completions carry the error."""
        limit = longest_s(self._timeout_s) * sum(map(len, pending.versions)) + SPARE_S
        for attempt in range(TRIES):
            try:
                ray.get(self.started[pending.worker], timeout=START_S)
                scored: Scored = ray.get(pending.answer, timeout=limit)
                return scored
            except (RayActorError, GetTimeoutError) as error:
                reason = "did not answer" if isinstance(error, GetTimeoutError) else "died"
                self._replace(pending, reason)
                if attempt + 1 < TRIES:
                    handle = self._workers[pending.worker]
                    pending.handle = handle
                    pending.answer = handle.score.remote(
                        pending.chunk, list(pending.items), list(pending.max_tokens), list(pending.versions)
                    )
        size, lost = len(pending.chunk), failed(f"the reward worker {reason} twice")
        return Scored([""] * size, [lost] * size, 0.0, [dict.fromkeys(refs[1:], lost) for refs in pending.versions])

    def close(self) -> None:
        """Kill the actors. A thread that still waits for them gets errors and does not replace them."""
        self._closed = True
        for worker in self._workers:
            ray.kill(worker, no_restart=True)

    def _replace(self, pending: PendingScores, reason: str) -> None:
        if self._closed or self._workers[pending.worker] is not pending.handle:
            return  # closed, or another chunk has already had this worker replaced
        self._notify("A reward worker was replaced", f"Reward worker {pending.worker} {reason}.")
        try:
            ray.kill(pending.handle, no_restart=True)
        except RayError as error:
            self._notify("A reward worker could not be stopped", str(error))
        fresh = self._fresh(pending.worker)
        with self._lock:
            self.started[pending.worker] = fresh.start.remote()
            self._workers[pending.worker] = fresh

    def _fresh(self, worker: int) -> ActorHandle:
        """A new actor for a worker. If its process cannot be created, this tries again: Ray keeps placing actors on a
        dead node until it notices."""
        deadline = time.monotonic() + UNNOTICED_S
        while True:
            self._generations[worker] += 1
            fresh = self._spawn(worker, self._generations[worker], self._versions)
            try:
                ray.get(fresh.__ray_ready__.remote(), timeout=START_S)
            except GetTimeoutError:
                return fresh  # the thread that waits for its start will notice
            except RayActorError:
                if self._closed or time.monotonic() > deadline:
                    return fresh
                time.sleep(AGAIN_S)
            else:
                return fresh
