"""Database models of rewards: definitions, judges, bench jobs, proposals for rubrics."""

from dressage.rewards.models.judge import JudgeEndpoint
from dressage.rewards.models.proposal import RubricProposal
from dressage.rewards.models.reward import Reward, RewardVersion

__all__ = ["JudgeEndpoint", "Reward", "RewardVersion", "RubricProposal"]
