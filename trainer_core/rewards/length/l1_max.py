"""L1 with a maximum length (arXiv 2503.04697, §3, LCPO-Max)."""

from trainer_core.rewards.length.group import ScoredGroup
from trainer_core.spec.rewards.length_shaping import L1MaxLength


def l1_max(spec: L1MaxLength, group: ScoredGroup) -> list[float]:
    """Parts [S] that turn the reward r of a right answer into ``r · clip(α · (n_target − n) + δ, 0, 1)``.

    Raises:
        ValueError: the group has no target.
    """
    if group.target is None:
        raise ValueError("l1_max needs a target length")
    parts = []
    for reward, length, right in zip(group.rewards, group.lengths, group.right, strict=True):
        factor = min(max(spec.alpha * (group.target - length) + spec.delta, 0.0), 1.0)
        parts.append(reward * factor - reward if right else 0.0)
    return parts
