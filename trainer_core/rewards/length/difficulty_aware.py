"""Apriel's difficulty-aware length penalty (arXiv 2604.02007)."""

from trainer_core.rewards.length.group import ScoredGroup
from trainer_core.rewards.overlong import overlong_punishment
from trainer_core.spec.rewards.length_shaping import DifficultyAwareLength


def difficulty_aware(spec: DifficultyAwareLength, group: ScoredGroup) -> list[float]:
    """Parts [S]: the overlong ramp, times ``p^γ`` for right answers, ``failure_scale`` for wrong, 1 if cut off."""
    success_scale = group.pass_rate**spec.gamma
    parts = []
    for length, right, cut_off in zip(group.lengths, group.right, group.cut_off, strict=True):
        scale = 1.0 if cut_off else success_scale if right else spec.failure_scale
        parts.append(0.0 + scale * overlong_punishment(length, group.max_tokens, spec.buffer, spec.factor))
    return parts
