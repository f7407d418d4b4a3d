"""From rewards to advantages: what happens to a batch between scoring and learning."""

from __future__ import annotations

from typing import Literal

import torch

from trainer_core.methods import advantages, filters
from trainer_core.spec.advantage import Advantage
from trainer_core.spec.filters import Filter
from trainer_core.trajectory import Group


def exclude_failed_rewards(groups: list[Group], on_error: Literal["exclude", "zero", "stop"]) -> None:
    """Apply the policy on failed rewards: left out of the loss, or (only where asked for) scored zero."""
    for trajectory in (t for group in groups for t in group.trajectories):
        if trajectory.reward_error is None:
            continue
        if on_error == "zero":
            trajectory.reward = 0.0
        else:
            trajectory.excluded = "reward_error"


def assign_advantages(groups: list[Group], advantage: Advantage, chosen: tuple[Filter, ...]) -> None:
    """Write each trajectory's advantage, then exclude what the filters leave out."""
    rewards = torch.tensor([[t.reward or 0.0 for t in group.trajectories] for group in groups])
    mask = torch.tensor([[t.excluded is None for t in group.trajectories] for group in groups])
    values = advantages.compute(advantage, rewards, mask).tolist()
    for group, row in zip(groups, values, strict=True):
        for trajectory, value in zip(group.trajectories, row, strict=True):
            trajectory.advantage = value
    filters.apply(chosen, groups)
