"""A reward version as the platform hands it out: its definition, and what its graders need."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from trainer_core.rewards.definition import RewardDefinition
from worker.judge.config import JudgeEndpoint


class RewardVersion(BaseModel):
    """Immutable, as all versions of a reward are."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    definition: RewardDefinition
    judges: dict[str, JudgeEndpoint] = {}
    """Endpoints that its graders ask, by slug."""
    reward_models: dict[str, Path] = {}
    """Folders of its reward models, by policy."""


Versions = Mapping[str, RewardVersion]
"""Reward versions by reference, ``slug@version``."""
