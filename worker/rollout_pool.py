"""The rollout workers as seen by the loop: one batch at a time over all engines, dead or hung engines replaced.

Every worker serves the same weights. A replacement is a fresh actor that gets the present weights (with the probe)
before it works; groups that its predecessor had not finished are generated again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import ray
from ray.actor import ActorHandle
from ray.exceptions import GetTimeoutError, RayActorError, RayError, RayTaskError

from worker.chunk import Chunk, GenerationStats
from worker.engine import EngineConfig
from worker.reward_pool import Notify
from worker.rollout import RolloutJob

WATCH_S = 5.0
"""Silence after which a worker is asked for its progress."""
HUNG_S = 60.0
"""Time without an answer, or with an answer but no progress, after which a worker counts as hung."""
MAX_REPLACEMENTS = 3
"""Replacements within one batch after which the run gives up: the cause is not a passing one."""


class RolloutError(RuntimeError):
    """The engines cannot do their work; the message is a sentence for a person."""


@dataclass(slots=True)
class _Slot:
    handle: ActorHandle
    generation: int = 0


class RolloutPool:
    """Used by one thread at a time."""

    def __init__(
        self,
        spawn: Callable[[int, int], ActorHandle],
        size: int,
        config: EngineConfig,
        tolerance: float,
        notify: Notify,
    ) -> None:
        """``spawn(index, generation)`` makes an actor; the engine of ``config`` is built in it at once."""
        self._spawn, self._config, self._tolerance, self._notify = spawn, config, tolerance, notify
        self._slots = [_Slot(spawn(index, 0)) for index in range(size)]
        self.started = [slot.handle.start.remote(config) for slot in self._slots]
        """One ref per worker that holds the seconds of its start, or its error."""
        self._bundle: ray.ObjectRef | None = None
        self._closed = False

    def sync(self, bundle: ray.ObjectRef) -> float:
        """Bring all engines to the weights of ``bundle``. Returns the largest probe difference in nats.

        Raises:
            RolloutError: even a fresh engine does not compute what the learner computes.
        """
        self._bundle = bundle
        answers = [slot.handle.sync.remote(bundle, self._tolerance) for slot in self._slots]
        differences = []
        for index, answer in enumerate(answers):
            try:
                differences.append(float(ray.get(answer)))
            except (RayActorError, RayTaskError) as error:
                differences.append(self._replace(index, _reason(error)))
        return max(differences)

    def generate(self, job: RolloutJob) -> Iterator[tuple[ray.ObjectRef, Chunk] | GenerationStats]:
        """Sample a whole batch over all workers. Yields chunks of whole groups (each group once) and statistics."""
        missing = dict(zip(job.indices, job.prompts, strict=True))
        replacements = 0
        while missing:
            lost: dict[int, str] = {}
            for item in self._round(job, sorted(missing), lost):
                if isinstance(item, tuple):
                    for index in set(item[1].groups.tolist()):
                        missing.pop(index)
                yield item
            replacements += len(lost)
            if missing and not lost:
                raise RolloutError(f"the engines ended with {len(missing)} groups unfinished")
            if replacements > MAX_REPLACEMENTS:
                raise RolloutError(f"{replacements} rollout workers failed in one batch: {next(iter(lost.values()))}")
            for index, reason in lost.items():
                self._replace(index, reason)

    def close(self) -> None:
        """Kill the actors. A thread that still works with them is told so, instead of replacing them."""
        self._closed = True
        for slot in self._slots:
            ray.kill(slot.handle, no_restart=True)

    def _round(
        self, job: RolloutJob, indices: Sequence[int], lost: dict[int, str]
    ) -> Iterator[tuple[ray.ObjectRef, Chunk] | GenerationStats]:
        """One pass over the groups ``indices``; workers that fail are entered into ``lost`` with the reason."""
        prompts = dict(zip(job.indices, job.prompts, strict=True))
        streams = {}
        for worker, slot in enumerate(self._slots):
            part = tuple(indices[worker :: len(self._slots)])
            if part:
                own = replace(job, indices=part, prompts=tuple(prompts[i] for i in part), seed=job.seed + worker)
                streams[slot.handle.generate.options(num_returns="streaming").remote(own)] = worker
        watch = {worker: _Watch() for worker in streams.values()}
        while streams:
            ready, _ = ray.wait(list(streams), num_returns=1, timeout=WATCH_S, fetch_local=False)
            if not ready:
                for stream, worker in list(streams.items()):
                    if watch[worker].is_hung(self._slots[worker].handle):
                        lost[worker] = f"made no progress for {HUNG_S:g} s"
                        del streams[stream]
                continue
            stream = ready[0]
            worker = streams[stream]
            try:
                ref = next(stream)
                value = ray.get(ref)
            except StopIteration:
                del streams[stream]
            except (RayActorError, RayTaskError) as error:
                lost[worker] = _reason(error)
                del streams[stream]
            else:
                watch[worker] = _Watch()
                yield (ref, value) if isinstance(value, Chunk) else value

    def _replace(self, index: int, reason: str) -> float:
        """A fresh engine in place of worker ``index``. Returns its probe difference in nats."""
        if self._closed:
            raise RolloutError("The engines have been closed.")
        self._notify("A rollout worker was replaced", f"Rollout worker {index} {reason}.")
        slot = self._slots[index]
        ray.kill(slot.handle, no_restart=True)
        slot.generation += 1
        slot.handle = self._spawn(index, slot.generation)
        try:
            ray.get(slot.handle.start.remote(self._config))
            if self._bundle is None:
                return 0.0
            return float(ray.get(slot.handle.sync.remote(self._bundle, self._tolerance)))
        except RayError as error:
            raise RolloutError(f"A fresh rollout worker {_reason(error)}.") from error


class _Watch:
    """Notices a worker that is alive but stands still."""

    def __init__(self) -> None:
        self._since = time.monotonic()
        self._seen: tuple[int, float] | None = None

    def is_hung(self, worker: ActorHandle) -> bool:
        try:
            seen = ray.get(worker.progress.remote(), timeout=WATCH_S)
        except GetTimeoutError:
            seen = self._seen
        except RayError:
            return False  # it is dead: its stream will say so
        if seen != self._seen:
            self._since, self._seen = time.monotonic(), seen
        return time.monotonic() - self._since > HUNG_S


def _reason(error: RayError) -> str:
    """Half a sentence: what the worker did."""
    if isinstance(error, RayTaskError):
        return f"failed: {error.cause}"
    return "died"
