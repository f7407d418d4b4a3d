"""Length shaping: what the length of a completion changes, once its group is scored. Pure, without torch.

``shape`` runs between scoring and advantages, ``reweigh`` between advantages and filters; both take the whole batch.
"""

from trainer_core.rewards.length.apply import advantage_weights, reweigh, shape
from trainer_core.rewards.length.group import ScoredGroup

__all__ = ["ScoredGroup", "advantage_weights", "reweigh", "shape"]
