"""The generation stage: a thread of its own that keeps the engines busy and has rewards computed as groups finish.

Work is done in the order in which it was handed over: new weights, then the batch that is sampled with them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import ray

from trainer_core.trajectory import Group
from worker.buffer import Batch
from worker.chunk import GenerationStats, repack, unpack
from worker.engine import Sampling
from worker.reward import Scored
from worker.reward_pool import PendingScores, RewardPool
from worker.rollout import RolloutJob
from worker.rollout_pool import RolloutPool

Progress = Callable[[int, int], None]
"""(groups done, groups in all)."""


class GenerationStage:
    """Engines and reward workers behind one queue."""

    def __init__(self, engines: RolloutPool, rewards: RewardPool) -> None:
        self._engines, self._rewards = engines, rewards
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="generation")

    def sync(self, bundle: ray.ObjectRef) -> Future[tuple[float, float]]:
        """Bring new weights to the engines. Result: largest probe difference in nats, seconds."""
        return self._thread.submit(self._sync, bundle)

    def generate(self, batch: Batch, samples: int, sampling: Sampling, seed: int, progress: Progress) -> Future[Batch]:
        """Sample and score ``batch``, ``samples`` completions per prompt."""
        return self._thread.submit(self._generate, batch, samples, sampling, seed, progress)

    def rescore(self, batch: Batch) -> Future[int]:
        """Score once more what failed. Result: how many rewards fail still."""
        return self._thread.submit(self._rescore, batch)

    def close(self) -> None:
        """Kill the actors; work in hand ends with an error that nobody waits for."""
        self._engines.close()
        self._rewards.close()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _sync(self, bundle: ray.ObjectRef) -> tuple[float, float]:
        started = time.perf_counter()
        difference = self._engines.sync(bundle)
        return difference, time.perf_counter() - started

    def _generate(self, batch: Batch, samples: int, sampling: Sampling, seed: int, progress: Progress) -> Batch:
        started = time.perf_counter()
        indices = tuple(range(len(batch.groups)))
        job = RolloutJob(str(batch.step), indices, tuple(batch.prompts), samples, sampling, seed)
        pending: list[PendingScores] = []
        done = 0
        for item in self._engines.generate(job):
            if isinstance(item, GenerationStats):
                batch.generation.append(item)
                continue
            ref, chunk = item
            items = [batch.groups[index].item for index in chunk.groups.tolist()]
            pending.append(self._rewards.submit(ref, chunk, items, sampling.max_tokens))
            done += len(unpack(chunk, batch.groups, batch.prompts, sampling.temperature))
            progress(done, len(indices))
        batch.generate_s = time.perf_counter() - started
        for part in pending:
            _assign(batch.groups, part, self._rewards.result(part))
        batch.reward_s = time.perf_counter() - started - batch.generate_s
        return batch

    def _rescore(self, batch: Batch) -> int:
        failed = [t for group in batch.groups for t in group.trajectories if t.reward_error is not None]
        if not failed:
            return 0
        items = {t.trajectory_id: group.item for group in batch.groups for t in group.trajectories}
        chunk = repack(failed)
        max_tokens = batch.spec.rollout.max_tokens
        pending = self._rewards.submit(chunk, chunk, [items[t.trajectory_id] for t in failed], max_tokens)
        scored = self._rewards.result(pending)
        for trajectory, text, result in zip(failed, scored.texts, scored.scores, strict=True):
            trajectory.output_text = text
            trajectory.reward, trajectory.reward_parts = result.reward, result.parts
            trajectory.reward_error = result.error
        return sum(t.reward_error is not None for t in failed)


def _assign(groups: list[Group], pending: PendingScores, scored: Scored) -> None:
    """Write texts and scores into the trajectories of a chunk, in the chunk's order."""
    places = pending.chunk.groups.tolist()
    seen: dict[int, int] = {}
    for index, text, result in zip(places, scored.texts, scored.scores, strict=True):
        sample = seen.get(index, 0)
        seen[index] = sample + 1
        trajectory = groups[index].trajectories[sample]
        trajectory.output_text = text
        trajectory.reward, trajectory.reward_parts = result.reward, dict(result.parts)
        trajectory.reward_error = result.error
