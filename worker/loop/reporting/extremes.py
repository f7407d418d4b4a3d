"""The largest reward and advantage of a batch, in words, for an update that was not finite."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from trainer_core.episodes import Group, Trajectory


def extremes(groups: Sequence[Group]) -> str:
    """Sentences that name the sample with the largest reward and that with the largest advantage, by size.

    A value that is not a number counts as larger than any other.
    """
    rewards = [(t.reward, group, number) for group, number, t in _samples(groups) if t.reward is not None]
    advantages = [(_advantage(t), group, number) for group, number, t in _samples(groups) if t.excluded is None]
    found = [
        f"The largest {noun} is {value:.4g} (prompt {group.prompt_id}, sample {number} of group {group.group_id})."
        for noun, values in (("reward", rewards), ("advantage", advantages))
        if values
        for value, group, number in [max(values, key=lambda one: _size(one[0]))]
    ]
    return " ".join([*found, "The rollouts of the step are stored."])


def _samples(groups: Sequence[Group]) -> Iterator[tuple[Group, int, Trajectory]]:
    return ((group, number, t) for group in groups for number, t in enumerate(group.trajectories))


def _advantage(trajectory: Trajectory) -> float:
    """The advantage of its tokens that is largest by size."""
    values = trajectory.token_advantages
    if values is None or not len(values):
        return trajectory.advantage
    return float(values[int(np.argmax([_size(float(value)) for value in values]))])


def _size(value: float) -> float:
    return math.inf if math.isnan(value) else abs(value)
