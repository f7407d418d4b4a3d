"""Writes VinePPO's advantages into trajectories whose states have been valued."""

from collections.abc import Sequence

import numpy as np
import torch

from trainer_core.episodes import Group, Trajectory
from trainer_core.methods.advantages.equality import differ
from trainer_core.methods.advantages.vine import vine
from trainer_core.spec.methods.branching import VineAdvantage


def assign_vine(spec: VineAdvantage, groups: Sequence[Group]) -> None:
    """Set ``token_advantages``, 0 for forced tokens, and, for display, ``advantage``: the reward minus the prompt's
    value.

    A trajectory whose prompt has no value because the rewards of all branches failed is excluded as "no_value". A
    trajectory with an unknown reward is already excluded, and gets no advantage.
    """
    known: list[Trajectory] = []
    for trajectory in (t for group in groups for t in group.trajectories):
        trajectory.token_advantages = None
        trajectory.earn(0.0)
        if trajectory.reward is None or trajectory.excluded == "reward_error":
            continue
        values, starts = trajectory.state_values, trajectory.step_starts
        if values is None or starts is None:
            trajectory.exclude("no_value")
            continue
        found = vine(torch.from_numpy(values), torch.from_numpy(starts), trajectory.length, trajectory.reward)
        trajectory.token_advantages = np.where(trajectory.sampled, found.numpy(), 0.0).astype(np.float32)
        trajectory.earn(float(trajectory.reward - values[0]))
        known.append(trajectory)
    if spec.whiten == "batch":
        _whiten(known)


def _whiten(trajectories: Sequence[Trajectory]) -> None:
    """Standardise over all sampled tokens; values that are equal up to float32 rounding become 0."""
    parts = [t.token_advantages[t.sampled] for t in trajectories if t.token_advantages is not None]
    every = np.concatenate(parts).astype(np.float64) if parts else np.zeros(0)
    if not len(every):
        return
    mean, deviation = every.mean(), every.std()
    single = torch.from_numpy(every.astype(np.float32))
    silent = not bool(differ(single.min(), single.max()))
    for trajectory in trajectories:
        assert trajectory.token_advantages is not None
        if silent:
            trajectory.token_advantages[:] = 0.0
            continue
        centred = (trajectory.token_advantages - mean) / (deviation + 1e-8)
        trajectory.token_advantages = np.where(trajectory.sampled, centred, 0.0).astype(np.float32)
