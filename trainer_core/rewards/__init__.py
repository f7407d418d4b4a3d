"""Rewards: what a completion is worth. Pure Python without torch, so that the web tier can try a reward out."""

from trainer_core.rewards.definition import RewardDefinition
from trainer_core.rewards.sample import Sample, split_thinking
from trainer_core.rewards.score import Score, score, score_batch

__all__ = ["RewardDefinition", "Sample", "Score", "score", "score_batch", "split_thinking"]
