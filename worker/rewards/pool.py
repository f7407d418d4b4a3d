"""The reward workers as seen by the loop: chunks go out as they finish, a worker that dies or hangs is replaced."""

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
"""Time a chunk may take beyond the time-outs of its trajectories before its worker counts as hung."""
TRIES = 2
EQUIP_S = 120.0
"""Longest time that the workers may take to make ready for another reward version."""
START_S = 600.0
"""Longest time that a worker may take to come up: jails and reward models load. Scoring is timed from then on."""
UNNOTICED_S, AGAIN_S = 120.0, 2.0
"""Longest time that Ray may take to notice that a node is dead, and seconds between two actors that are tried."""

Spawn = Callable[[int, int, Versions], ActorHandle]
"""(index, generation, versions): makes a reward worker."""


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
    """Chunks may be submitted by any thread; their results are waited for by one."""

    def __init__(self, spawn: Spawn, versions: Versions, size: int, timeout_s: float, notify: Notify) -> None:
        """``spawn`` makes an actor that can score by ``versions``; its ``start`` is called here."""
        self._spawn, self._timeout_s, self._notify = spawn, timeout_s, notify
        self._versions: dict[str, RewardVersion] = dict(versions)
        self._generations = [0] * size
        self._workers = [spawn(index, 0, self._versions) for index in range(size)]
        self.started = [worker.start.remote() for worker in self._workers]
        """One ref per worker, as it is now, that holds the seconds of its start."""
        self._next = 0
        self._closed = False
        self._lock = threading.Lock()

    def equip(self, versions: Versions) -> str | None:
        """Have every worker made ready for further versions: None, or why one cannot be, as a sentence."""
        with self._lock:
            before, handles = self._versions, list(self._workers)
            self._versions = {**before, **versions}  # a worker that is replaced meanwhile comes up with them
        try:
            ray.get([handle.equip.remote(versions) for handle in handles], timeout=EQUIP_S)
        except RayTaskError as error:
            trouble = f"the reward workers cannot be made ready: {error.cause}"
        except (GetTimeoutError, RayActorError) as error:
            trouble = f"the reward workers did not get ready: {str(error).splitlines()[0]}"
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
        """Send a chunk to the next worker; the rest is as ``RewardWorker.score`` takes it, shape [M] each."""
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
        """Kill the actors. A thread that still waits for them gets errors, and replaces nothing."""
        self._closed = True
        for worker in self._workers:
            ray.kill(worker, no_restart=True)

    def _replace(self, pending: PendingScores, reason: str) -> None:
        if self._closed or self._workers[pending.worker] is not pending.handle:
            return  # over, or another chunk of the same worker has found out already
        self._notify("A reward worker was replaced", f"Reward worker {pending.worker} {reason}.")
        try:
            ray.kill(pending.handle, no_restart=True)
        except RayError as error:
            self._notify("A reward worker could not be ended", str(error))
        fresh = self._fresh(pending.worker)
        with self._lock:
            self.started[pending.worker] = fresh.start.remote()
            self._workers[pending.worker] = fresh

    def _fresh(self, worker: int) -> ActorHandle:
        """Another actor for a worker. Where its process cannot be made, further ones are: until Ray has noticed that a
        node is dead, it goes on placing actors there."""
        deadline = time.monotonic() + UNNOTICED_S
        while True:
            self._generations[worker] += 1
            fresh = self._spawn(worker, self._generations[worker], self._versions)
            try:
                ray.get(fresh.__ray_ready__.remote(), timeout=START_S)
            except GetTimeoutError:
                return fresh  # who waits for its start will find out
            except RayActorError:
                if self._closed or time.monotonic() > deadline:
                    return fresh
                time.sleep(AGAIN_S)
            else:
                return fresh
