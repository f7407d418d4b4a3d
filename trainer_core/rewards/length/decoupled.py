"""DRPO's decoupled length reward: weights of right answers among one another (arXiv 2510.04474, §4)."""

import math
from collections.abc import Sequence

from trainer_core.spec.rewards.length_shaping import DecoupledLength


def decoupled(spec: DecoupledLength, lengths: Sequence[int], max_tokens: int) -> list[float]:
    """Weights [P] of mean 1 for the right answers of a group: ``P · softmax((1 − n / n_max) / λ)``.

    Args:
        spec: the temperature λ.
        lengths: completion tokens of the right answers, shape [P].
        max_tokens: n_max, the longest completion.
    """
    if not lengths:
        return []
    logits = [(1.0 - length / max_tokens) / spec.temperature for length in lengths]
    highest = max(logits)
    powers = [math.exp(logit - highest) for logit in logits]
    total = math.fsum(powers)
    return [len(powers) * power / total for power in powers]
