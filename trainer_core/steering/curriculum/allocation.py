"""Allocation of samples to the prompts of a batch."""

import heapq
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from trainer_core.spec.data.batching import (
    DARSAllocation,
    EqualAllocation,
    KnapsackAllocation,
    UncertaintyAllocation,
)
from trainer_core.spec.run import RunSpec
from trainer_core.steering.curriculum.rates import PassRates


class Allocator:
    """Assigns samples by running pass rates, as the spec's ``batching.allocation`` says."""

    def __init__(self, spec: RunSpec) -> None:
        self._spec = spec
        allocation = spec.batching.allocation
        self._rates: PassRates[str] = PassRates(0.0 if isinstance(allocation, EqualAllocation) else allocation.decay)
        self._seen: dict[str, int] = {}

    def sizes(self, prompt_ids: Sequence[str], predicted: Mapping[str, float] | None = None) -> list[int]:
        """Samples of each prompt of a batch, shape [prompts].

        Args:
            prompt_ids: the prompts.
            predicted: predicted pass rates of some prompts that were never tried.
        """
        allocation, size = self._spec.batching.allocation, self._spec.rollout.group_size
        rates = [self._rates.get(prompt) for prompt in prompt_ids]
        match allocation:
            case EqualAllocation():
                return [size] * len(prompt_ids)
            case DARSAllocation():
                return [size if rate is None else dars(allocation, rate, size) for rate in rates]
            case UncertaintyAllocation():
                seen = [self._seen.get(prompt, 0) for prompt in prompt_ids]
                return uncertainty(allocation, rates, seen, size)
            case KnapsackAllocation():
                told = predicted or {}
                known = [told.get(one) if rate is None else rate for one, rate in zip(prompt_ids, rates, strict=True)]
                return knapsack(allocation, known, size)

    def observe(self, prompt_id: str, pass_rate: float, samples: int) -> None:
        """Record the pass rate of a group of ``samples`` completions."""
        if isinstance(self._spec.batching.allocation, EqualAllocation):
            return
        self._rates.observe(prompt_id, pass_rate)
        self._seen[prompt_id] = self._seen.get(prompt_id, 0) + samples

    def update_spec(self, spec: RunSpec) -> None:
        """Continue under other limits. The kind of allocation cannot change: the curriculum ensures it."""
        self._spec = spec

    def state(self) -> dict[str, Any]:
        """State for the checkpoint."""
        return {"rates": self._rates.state(), "seen": dict(self._seen)}

    def load(self, state: dict[str, Any]) -> None:
        """Restore from a checkpoint."""
        self._rates.load(state["rates"])
        self._seen = dict(state["seen"])


def dars(spec: DARSAllocation, pass_rate: float, size: int) -> int:
    """Samples of a prompt (DARS, arXiv 2508.13755): ``min(⌈N · h / (2p(1 − p))⌉, n_max)`` below a pass rate of 1/2.

    With n samples of a 0/1 reward, the absolute advantages sum to ``n · 2p(1 − p)``. Equal treatment raises that to
    ``N / 2``, the value at a pass rate of 1/2; hardness weighting raises it to ``N · (1 − p)``.
    """
    rate = pass_rate if pass_rate > 0.0 else 0.5 / size
    if rate >= 0.5:
        return size
    height = 0.5 if spec.schedule == "equal_treatment" else 1.0 - rate
    # Rounding errors must not add a sample: 8 · 0.5 / (2 · 0.2 · 0.8) is 12.5, but some whole quotients come out just
    # above.
    return max(size, min(math.ceil(size * height / (2.0 * rate * (1.0 - rate)) - 1e-9), spec.max_samples))


def uncertainty(
    spec: UncertaintyAllocation, rates: Sequence[float | None], seen: Sequence[int], size: int
) -> list[int]:
    """Samples of a batch's prompts, ``size`` on average (after XRPO, arXiv 2510.06672).

    Args:
        spec: limits and bonus.
        rates: running pass rate of each prompt; None if it was never tried.
        seen: samples of each prompt so far, in all its groups.
        size: mean samples per prompt.
    """
    spreads = []
    for rate, count in zip(rates, seen, strict=True):
        smoothed = ((0.5 if rate is None else rate) * count + 1.0) / (count + 2.0)
        spreads.append(math.sqrt(smoothed * (1.0 - smoothed)))
    total = size * len(rates)
    explored = math.log1p(sum(seen) + total)

    def gain(index: int, samples: int) -> float:
        narrower = spreads[index] * (1.0 / math.sqrt(samples) - 1.0 / math.sqrt(samples + 1))
        return narrower + spec.bonus * math.sqrt(explored / (seen[index] + samples))

    return _greedily(gain, len(rates), total, spec.min_samples, spec.max_samples)


def knapsack(spec: KnapsackAllocation, rates: Sequence[float | None], size: int) -> list[int]:
    """Samples of a batch's prompts, ``size`` on average (Knapsack RL, arXiv 2509.25849).

    The value of a prompt is the chance that its group has both right and wrong answers, ``1 − p^n − (1 − p)^n``, times
    what such a group teaches, ``p(1 − p)²``. The chance is concave in n, so the greedy choice is optimal.

    Args:
        spec: the limits.
        rates: pass rate of each prompt, running or predicted; None if it is not known, which counts as 1/2.
        size: mean samples per prompt. Rates are kept ``0.5 / size`` away from 0 and 1.
    """
    edge = 0.5 / size
    kept = [0.5 if rate is None else min(max(rate, edge), 1.0 - edge) for rate in rates]

    def gain(index: int, samples: int) -> float:
        p = kept[index]
        return (p**samples * (1 - p) + (1 - p) ** samples * p) * p * (1 - p) ** 2

    return _greedily(gain, len(rates), size * len(rates), spec.min_samples, spec.max_samples)


def _greedily(gain: Callable[[int, int], float], prompts: int, total: int, least: int, most: int) -> list[int]:
    """``total`` samples, each assigned to the prompt with the largest ``gain(prompt, samples so far)`` within the
    limits."""
    sizes = [least] * prompts
    queue = [(-gain(index, least), index) for index in range(prompts)]
    heapq.heapify(queue)
    left = total - sum(sizes)
    while left > 0 and queue:
        _, index = heapq.heappop(queue)
        if sizes[index] >= most:
            continue
        sizes[index] += 1
        left -= 1
        heapq.heappush(queue, (-gain(index, sizes[index]), index))
    return sizes
