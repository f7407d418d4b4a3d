"""A rollout worker: one engine in one Ray actor. Batches go in whole; finished groups stream out in a few chunks.

The actor is single-threaded where it computes (``Engine`` is not thread-safe); ``progress`` alone is answered by a
second thread, so that a worker that hangs can be told from one that works on long completions.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import ray
from numpy.typing import NDArray

from worker.chunk import Chunk, GenerationStats, pack
from worker.engine import Completion, Engine, EngineConfig, Request, Sampling

if TYPE_CHECKING:
    from worker.weights import WeightBundle

CHUNKS_PER_BATCH = 4
"""Finished groups travel when a quarter of the batch has finished: few messages, and rewards start early."""


@dataclass(frozen=True, slots=True)
class RolloutJob:
    """A worker's part of a batch. ``indices`` are the places of its groups in the whole batch."""

    name: str
    indices: tuple[int, ...]
    prompts: tuple[NDArray[np.int32], ...]
    """Token ids of each group's prompt, shape [P]."""
    samples: int
    """Completions per prompt."""
    sampling: Sampling
    seed: int
    """Seeds the engine's random state: the same job on the same weights draws the same tokens."""


class RolloutWorker:
    """Ray actor. Every method but ``progress`` runs on the same thread, in the order of the calls."""

    def __init__(self) -> None:
        self._engine: Engine | None = None

    def start(self, config: EngineConfig) -> float:
        """Build the engine. Returns the seconds it took; raises ``EngineError`` with a sentence."""
        started = time.perf_counter()
        self._engine = Engine(config)
        return time.perf_counter() - started

    def sync(self, bundle: WeightBundle, tolerance: float) -> float:
        """Serve new weights and prove it. Returns the largest probe difference in nats; raises ``ProbeFailed``."""
        from worker.weights import apply_and_probe

        return apply_and_probe(self._live, bundle, tolerance)

    def generate(self, job: RolloutJob) -> Iterator[Chunk | GenerationStats]:
        """Sample a job. Yields chunks of whole groups as they finish, the engine's statistics at the end."""
        import torch

        engine = self._live
        started, before = time.perf_counter(), engine.stats()
        torch.manual_seed(job.seed)
        self._submit(job)
        waiting: list[list[Completion | None]] = [[None] * job.samples for _ in job.indices]
        missing = [job.samples] * len(job.indices)
        finished: list[tuple[int, list[Completion]]] = []
        threshold = max(1, len(job.indices) // CHUNKS_PER_BATCH)
        kv_usage, running, steps = 0.0, 0, 0
        while engine.has_unfinished:
            for completion in engine.step():
                place, sample = divmod(int(completion.request_id), job.samples)
                waiting[place][sample] = completion
                missing[place] -= 1
                if not missing[place]:
                    finished.append((job.indices[place], [c for c in waiting[place] if c is not None]))
            steps += 1
            if steps % 8 == 1:
                now = engine.stats()
                kv_usage, running = max(kv_usage, now.kv_usage), running + now.running
            if len(finished) >= threshold and engine.has_unfinished:
                yield pack(finished)
                finished = []
        if finished:
            yield pack(finished)
        after = engine.stats()
        yield GenerationStats(
            wall_s=time.perf_counter() - started,
            busy_s=after.busy_s - before.busy_s,
            generated_tokens=after.generated_tokens - before.generated_tokens,
            kv_usage=kv_usage,
            running=running / max(1, -(-steps // 8)),
        )

    @ray.method(concurrency_group="watch")
    def progress(self) -> tuple[int, float]:
        """Tokens generated since start and the engine's busy seconds: both grow while the worker is well."""
        if self._engine is None:
            return 0, 0.0
        stats = self._engine.stats()
        return stats.generated_tokens + stats.prompt_tokens, stats.busy_s

    def _submit(self, job: RolloutJob) -> None:
        engine = self._live
        if engine.has_unfinished:
            engine.abort()
        for place, prompt in enumerate(job.prompts):
            prompt_ids = tuple(prompt.tolist())
            for sample in range(job.samples):
                engine.submit(Request(str(place * job.samples + sample), prompt_ids, job.sampling))

    @property
    def _live(self) -> Engine:
        if self._engine is None:
            raise RuntimeError("the engine was not started")
        return self._engine


def rollout_actor_class() -> Any:
    """The Ray class: one computing thread, one that answers ``progress``."""
    return ray.remote(concurrency_groups={"watch": 1})(RolloutWorker)
