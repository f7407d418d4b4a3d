"""Objectives: what a run trains its policy for."""

from typing import Annotated, Literal

from pydantic import Field

from trainer_core.spec.base import SpecModel
from trainer_core.spec.objective.preference import Preference
from trainer_core.spec.objective.supervised import Supervised


class ReinforcementLearning(SpecModel):
    """The policy samples completions, and learns from their rewards."""

    type: Literal["rl"] = "rl"


Objective = Annotated[ReinforcementLearning | Supervised | Preference, Field(discriminator="type")]
Examples = Supervised | Preference
"""Objectives that learn from the rows of datasets: nothing is sampled."""

__all__ = ["Examples", "Objective", "Preference", "ReinforcementLearning", "Supervised"]
