"""A reward version as the platform hands it out: its definition, and what its graders need."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import ConfigDict

from trainer_core.link.base import Message
from trainer_core.link.judge import JudgeEndpoint
from trainer_core.rewards.definition import RewardDefinition


class RewardVersion(Message):
    """Immutable, as all versions of a reward are. Unknown keys are refused: they would change what is graded."""

    model_config = ConfigDict(extra="forbid")

    definition: RewardDefinition
    judges: dict[str, JudgeEndpoint] = {}
    """Endpoints that its graders ask, by slug."""
    reward_models: dict[str, Path] = {}
    """Folders of its reward models, by policy."""


Versions = Mapping[str, RewardVersion]
"""Reward versions by reference, ``slug@version``."""
