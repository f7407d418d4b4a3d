"""Dynamic outlier truncation (Anti-Length Shift, arXiv 2601.03969): overlong answers to mastered prompts are
truncated."""

import math
from dataclasses import replace

import numpy as np

from trainer_core.episodes import Group, Trajectory
from trainer_core.rewards.parts import OUTLIER_PART
from trainer_core.rewards.success import least
from trainer_core.spec.methods.filters import LengthOutliersFilter


def length_outliers(spec: LengthOutliersFilter, groups: list[Group]) -> None:
    """Truncate outliers in groups whose answers are all right, before advantages are computed.

    A truncated trajectory ends by "length" and gets ``spec.reward``. Its reward part ``outlier`` holds the difference.
    """
    for group in groups:
        known = [t for t in group.trajectories if t.excluded is None and t.reward is not None]
        right = [t for t in known if t.reward is not None and t.reward >= least(spec.success)]
        if len(right) < 2 or len(right) < len(group.trajectories):
            continue
        lengths = np.array([t.length for t in right], np.float64)
        cut = max(1, math.floor(lengths.mean() + spec.deviations * lengths.std(ddof=1)))
        for trajectory in right:
            if trajectory.length - cut >= spec.margin:
                _shorten(trajectory, cut, spec.reward)


def _shorten(trajectory: Trajectory, length: int, reward: float) -> None:
    trajectory.cut(length)
    trajectory.finish_reason = "length"
    assert trajectory.reward is not None
    shaped = trajectory.verdict.with_part(OUTLIER_PART, reward - trajectory.reward)
    trajectory.verdict = replace(shaped, reward=reward)  # exactly: the sum may differ in its last bit
