"""Writes advantages into trajectories."""

import math

import torch

from trainer_core.methods.advantages import compute
from trainer_core.spec.advantage import Advantage
from trainer_core.trajectory import Group


def assign(spec: Advantage, groups: list[Group]) -> None:
    """Set ``advantage`` of every trajectory from its group's rewards.

    Trajectories without a reward (it failed) are excluded as "reward_error", do not count in their group and get 0.
    Those excluded for another reason, such as truncation, still count: their reward is known and belongs to the mean.

    Raises:
        ValueError: a reward is NaN or infinite; nothing was written.
    """
    width = max((len(group.trajectories) for group in groups), default=0)
    if width == 0:
        return
    rewards = torch.zeros(len(groups), width, dtype=torch.float64)
    mask = torch.zeros(len(groups), width, dtype=torch.bool)
    for row, group in enumerate(groups):
        for column, trajectory in enumerate(group.trajectories):
            if trajectory.reward is None or trajectory.excluded == "reward_error":
                continue
            if not math.isfinite(trajectory.reward):
                raise ValueError(f"the reward of {trajectory.trajectory_id} is {trajectory.reward}")
            rewards[row, column] = trajectory.reward
            mask[row, column] = True
    advantages = compute(spec, rewards, mask).tolist()
    for row, group in enumerate(groups):
        for column, trajectory in enumerate(group.trajectories):
            trajectory.advantage = advantages[row][column]
            if trajectory.reward is None:
                trajectory.excluded = trajectory.excluded or "reward_error"
