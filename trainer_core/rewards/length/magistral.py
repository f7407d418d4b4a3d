"""Magistral's length penalty (arXiv 2506.10910, §2.2.3)."""

from trainer_core.rewards.length.group import ScoredGroup
from trainer_core.rewards.overlong import overlong_punishment
from trainer_core.spec.rewards.length_shaping import MagistralLength


def magistral(spec: MagistralLength, group: ScoredGroup) -> list[float]:
    """Parts [S], from ``−factor`` to 0: the ramp of DAPO, with a tenth of its height by default."""
    return [overlong_punishment(length, group.max_tokens, spec.buffer, spec.factor) for length in group.lengths]
