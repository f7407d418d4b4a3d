"""Performance since the last report: rates, shares and times, from totals that only grow."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from trainer_core.planning.compute import Peaks, utilisation
from worker.engine.types import SpeculationStats
from worker.messages.jobs import EngineLoad
from worker.rollout.branches import BranchCost, branch_metrics
from worker.rollout.generation import GenerationStage


class Performance:
    """Differences between two reports. Used only by the loop's thread."""

    def __init__(self, generation: GenerationStage, parameters: int, peaks: Peaks) -> None:
        """``parameters`` are the policy's active parameters, ``peaks`` those of the devices."""
        self._generation, self._parameters, self._peaks = generation, parameters, peaks
        self._loads: dict[tuple[int, int], EngineLoad] = {}
        self._reward_s = self._generated_s = 0.0
        self._regenerated = 0
        self._branches = BranchCost()
        self._mark = time.perf_counter()

    def restart_clock(self) -> None:
        """Restart the clock after a pause: that time belongs to no step."""
        self._mark, self._loads = time.perf_counter(), self._generation.engines.loads

    def step(self, tokens: int, samples: int, learned: int) -> tuple[dict[str, float], float]:
        """Metrics of the step that ends now, and its seconds.

        Args:
            tokens: completion tokens of its batch.
            samples: trajectories of its batch.
            learned: tokens that the learner has processed.
        """
        now = time.perf_counter()
        seconds, self._mark = now - self._mark, now
        generation = self._generation
        reward_s, generated_s = generation.reward_s, generation.generated_s
        metrics = {
            "timing_s/step": seconds,
            "timing_s/generate": generated_s - self._generated_s,
            "timing_s/reward": reward_s - self._reward_s,
            "perf/throughput": tokens / seconds,
            "perf/rollouts_per_s": samples / seconds,
            "perf/kv_usage": generation.kv_usage,
            "rollouts/regenerated": float(generation.engines.regenerated - self._regenerated),
            **branch_metrics(self._branches, generation.brancher.cost, tokens),
            **self._engines(),
            "perf/mfu": utilisation(self._parameters, tokens, learned, self._peaks, seconds),
        }
        self._branches = replace(generation.brancher.cost)
        self._reward_s, self._generated_s = reward_s, generated_s
        self._regenerated, generation.kv_usage = generation.engines.regenerated, 0.0
        pauses = [generation.pauses.popleft() for _ in range(len(generation.pauses))]
        if pauses:
            metrics["timing_s/paused"] = sum(pauses) / len(pauses)
        return metrics, seconds

    def _engines(self) -> dict[str, float]:
        loads = self._generation.engines.loads
        busy, running, generated = [], [], []
        preemptions = violations = 0
        speculation: list[tuple[SpeculationStats, SpeculationStats]] = []
        for key, load in loads.items():
            before = self._loads.get(key)
            # A worker that started after the last report counts from zero.
            preemptions += load.preemptions - (before.preemptions if before else 0)
            violations += load.budget_violations - (before.budget_violations if before else 0)
            if load.speculation is not None:
                speculation.append(((before and before.speculation) or SpeculationStats(), load.speculation))
            if before is None or load.at <= before.at:
                continue
            busy.append((load.busy_s - before.busy_s) / (load.at - before.at))
            generated.append(load.generated_tokens - before.generated_tokens)
            if load.steps > before.steps:
                running.append((load.running_sum - before.running_sum) / (load.steps - before.steps))
        self._loads = loads
        metrics = {"perf/preemptions": float(preemptions), "thinking/budget_violations": float(violations)}
        if rounding := [load.fp8_simulated for load in loads.values() if load.fp8_simulated is not None]:
            metrics["perf/fp8_simulated"] = sum(rounding) / len(rounding)
        if busy:
            metrics["perf/engine_busy_share"] = sum(busy) / len(busy)
        if len(generated) > 1 and (together := sum(generated)) > 0:
            metrics["perf/engine_share_min"] = min(generated) / together
        if running:
            metrics["perf/running_sequences"] = sum(running)
        return metrics | speculation_metrics(speculation)


def speculation_metrics(engines: Sequence[tuple[SpeculationStats, SpeculationStats]]) -> dict[str, float]:
    """Metrics of the engines' speculation between two reports; a share is left out if its denominator is 0."""
    if not engines:
        return {}

    def grown(total: Callable[[SpeculationStats], int]) -> int:
        return sum(total(now) - total(before) for before, now in engines)

    drafted, accepted = grown(lambda stats: stats.drafted), grown(lambda stats: stats.accepted)
    drafts, steps = grown(lambda stats: stats.drafts), grown(lambda stats: stats.steps)
    metrics = {"speculation/drafted_tokens": float(drafted), "speculation/accepted_tokens": float(accepted)}
    if drafted:
        metrics["speculation/accepted_share"] = accepted / drafted
        metrics["speculation/tokens_per_draft"] = 1 + accepted / drafts
    if steps:
        metrics["speculation/step_share"] = grown(lambda stats: stats.drafted_steps) / steps
    return metrics
