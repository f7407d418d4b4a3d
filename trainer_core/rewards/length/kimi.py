"""Kimi k1.5's length reward (arXiv 2501.12599, §2.3.3)."""

from trainer_core.rewards.length.group import ScoredGroup
from trainer_core.spec.rewards.length_shaping import KimiLength


def kimi(spec: KimiLength, group: ScoredGroup) -> list[float]:
    """Parts [S]: ``weight · λ_i`` for right answers, ``weight · min(0, λ_i)`` for wrong ones.

    ``λ_i = 1/2 − (n_i − n_min) / (n_max − n_min)`` over the whole group: from 1/2 for its shortest answer
    to −1/2 for its longest. All are 0 where every answer is equally long.
    """
    shortest, longest = min(group.lengths, default=0), max(group.lengths, default=0)
    if shortest == longest:
        return [0.0] * len(group.lengths)
    parts = []
    for length, right in zip(group.lengths, group.right, strict=True):
        place = 0.5 - (length - shortest) / (longest - shortest)
        parts.append(0.0 + spec.weight * (place if right else min(0.0, place)))
    return parts
