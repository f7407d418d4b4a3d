"""Outcomes of scored trajectories: success, graded reward, pass rate of groups, share of errors."""

from __future__ import annotations

import math
from collections.abc import Sequence

from trainer_core.episodes import Group, Trajectory
from trainer_core.rewards.parts import SHAPING_PARTS
from trainer_core.rewards.success import least


def succeeded(trajectory: Trajectory, threshold: float) -> bool | None:
    """Whether the answer counts as right; what length has added or taken is no part of it. None: the reward failed."""
    if trajectory.reward is None or trajectory.verdict.error is not None:
        return None
    return graded_reward(trajectory) >= least(threshold)


def graded_reward(trajectory: Trajectory) -> float:
    """The reward as its definition gave it, without what the run's shaping and the length-bias watch made of it.

    Raises:
        ValueError: it could not be computed.
    """
    if trajectory.reward is None:
        raise ValueError(f"{trajectory.trajectory_id} has no reward")
    shaping = sum(trajectory.verdict.parts.get(name, 0.0) for name in SHAPING_PARTS)
    return trajectory.reward - shaping - trajectory.verdict.length_correction


def pass_rate(groups: Sequence[Group]) -> float:
    """Share of right answers among those whose reward could be computed; NaN for none."""
    verdicts = [succeeded(t, group.success_threshold) for group in groups for t in group.trajectories]
    known = [right for right in verdicts if right is not None]
    return sum(known) / len(known) if known else math.nan


def error_share(groups: Sequence[Group]) -> float:
    """Share of trajectories whose reward could not be computed."""
    failed = [t.verdict.error is not None for group in groups for t in group.trajectories]
    return sum(failed) / len(failed) if failed else 0.0
