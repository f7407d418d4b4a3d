"""Tools that graders may be given. The worker brings all of it; the web tier only processes for pure graders."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from trainer_core.rewards.grader_model import GraderModel
from trainer_core.rewards.graders.jail import Jail
from trainer_core.rewards.graders.model.judge import Judges
from trainer_core.rewards.graders.model.reward_model import RewardModels
from trainer_core.rewards.sample import Sample


class PureGrading(Protocol):
    """Grades by graders that need no tool, in a process that can be ended."""

    def grade(self, grader: GraderModel, sample: Sample, item: Mapping[str, Any]) -> float:
        """The grade. Raises GraderError as the grader does, GraderStopped where it exceeds its limits."""


@dataclass(frozen=True, slots=True)
class Tools:
    """A grader that needs what is None fails with an error that says so."""

    jail: Jail | None = None
    """Jail in which untrusted text runs."""
    judges: Judges | None = None
    """Language models that judge, by endpoint."""
    models: RewardModels | None = None
    """Reward models, by policy."""
    pure: PureGrading | None = None
    """Where graders that need no tool are graded; None: in this process."""
