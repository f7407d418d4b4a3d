"""Writes advantages into trajectories."""

import torch

from trainer_core.methods.advantages import compute
from trainer_core.spec.advantage import Advantage
from trainer_core.trajectory import Group


def assign(spec: Advantage, groups: list[Group]) -> None:
    """Set ``advantage`` of every trajectory from its group's rewards.

    Trajectories without a reward (it failed) do not count in their group and get 0. Those excluded for another reason,
    such as truncation, still count: their reward is known and belongs to the baseline.
    """
    if not groups:
        return
    width = max(len(group.trajectories) for group in groups)
    rewards = torch.zeros(len(groups), width, dtype=torch.float64)
    mask = torch.zeros(len(groups), width, dtype=torch.bool)
    for row, group in enumerate(groups):
        for column, trajectory in enumerate(group.trajectories):
            if trajectory.reward is not None and trajectory.excluded != "reward_error":
                rewards[row, column] = trajectory.reward
                mask[row, column] = True
    advantages = compute(spec, rewards, mask).tolist()
    for row, group in enumerate(groups):
        for column, trajectory in enumerate(group.trajectories):
            trajectory.advantage = advantages[row][column]
