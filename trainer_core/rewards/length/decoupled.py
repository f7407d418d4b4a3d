"""DRPO's decoupled length reward: weights of right answers among one another (arXiv 2510.04474, §4)."""

import math
from collections.abc import Sequence

from trainer_core.spec.rewards.length_shaping import DecoupledLength


def length_logit(spec: DecoupledLength, length: int, max_tokens: int) -> float:
    """``(1 − n / n_max) / λ`` of a completion of ``length`` = n tokens, with λ of ``spec`` and n_max ``max_tokens``."""
    return (1.0 - length / max_tokens) / spec.temperature


def decoupled(logits: Sequence[float]) -> list[float]:
    """Weights [P] of mean 1 for the right answers of a group: ``P · softmax(logits)``.

    Args:
        logits: those of the right answers (``length_logit``), shape [P].
    """
    if not logits:
        return []
    highest = max(logits)
    powers = [math.exp(logit - highest) for logit in logits]
    total = math.fsum(powers)
    return [len(powers) * power / total for power in powers]
