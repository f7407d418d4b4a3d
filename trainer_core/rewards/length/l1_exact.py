"""L1 with an exact length (arXiv 2503.04697, §3, LCPO-Exact)."""

from trainer_core.rewards.length.group import ScoredGroup
from trainer_core.spec.rewards.length_shaping import L1ExactLength


def l1_exact(spec: L1ExactLength, group: ScoredGroup) -> list[float]:
    """Parts [S]: ``−α · |n_target − n|``, for right answers and wrong.

    Raises:
        ValueError: the group has no target.
    """
    if group.target is None:
        raise ValueError("l1_exact needs a target length")
    return [0.0 - spec.alpha * abs(group.target - length) for length in group.lengths]
