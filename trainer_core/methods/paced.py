"""PACED: weight of a prompt under distillation by the share of its samples that are right (arXiv 2603.11178)."""

from trainer_core.spec.methods.distillation import PacedWeighting


def paced(spec: PacedWeighting, rate: float) -> float:
    """``w(p) = p^α · (1 − p)^β``: 0 for prompts that the policy cannot solve at all and for prompts that it has
    mastered.

    Args:
        spec: α and β.
        rate: p, the share of the prompt's samples that are right.
    """
    return rate**spec.alpha * (1.0 - rate) ** spec.beta
