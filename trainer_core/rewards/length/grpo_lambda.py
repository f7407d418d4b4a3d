"""GRPO-λ: length counts in the best groups of a batch (arXiv 2505.18086, §3)."""

import math
from collections.abc import Sequence

from trainer_core.rewards.length.group import ScoredGroup
from trainer_core.spec.rewards.length_shaping import GRPOLambdaLength


def switched_on(spec: GRPOLambdaLength, groups: Sequence[ScoredGroup]) -> list[bool]:
    """Flags [G]: the ``⌈λ · G⌉`` groups of the highest pass rates, of equal ones the first; none below the floor."""
    count = math.ceil(spec.share * len(groups) - 1e-9)  # 0.2 · 35 = 7.000000000000001
    ranked = sorted(range(len(groups)), key=lambda index: -groups[index].pass_rate)
    best = set(ranked[:count])
    return [index in best and group.pass_rate >= spec.min_pass_rate for index, group in enumerate(groups)]


def grpo_lambda(spec: GRPOLambdaLength, group: ScoredGroup) -> list[float]:
    """Parts [S] of a group that is switched on: ``−α · σ(z)`` for right answers, 0 for wrong ones.

    z is the length, standardised among the right answers (population deviation); 0 where all of them are equally long.
    """
    right = [length for length, ok in zip(group.lengths, group.right, strict=True) if ok]
    if not right:
        return [0.0] * len(group.lengths)
    mean = sum(right) / len(right)
    std = math.sqrt(sum((length - mean) ** 2 for length in right) / len(right))
    parts = []
    for length, ok in zip(group.lengths, group.right, strict=True):
        z = (length - mean) / std if std > 0.0 else 0.0
        parts.append(0.0 - spec.alpha / (1.0 + math.exp(-z)) if ok else 0.0)
    return parts
