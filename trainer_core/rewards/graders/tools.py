"""Tools that graders may be given. The worker brings all of it; the web tier has none of it."""

from dataclasses import dataclass

from trainer_core.rewards.graders.jail import Jail
from trainer_core.rewards.graders.judge import Judges
from trainer_core.rewards.graders.reward_model import RewardModels


@dataclass(frozen=True, slots=True)
class Tools:
    """A grader that needs what is None fails with an error that says so."""

    jail: Jail | None = None
    """Jail in which untrusted text runs."""
    judges: Judges | None = None
    """Language models that judge, by endpoint."""
    models: RewardModels | None = None
    """Reward models, by policy."""
