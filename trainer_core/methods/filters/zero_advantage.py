"""Zero-advantage groups (DAPO, arXiv 2503.14476, §3.2): equal rewards carry no signal."""

from trainer_core.spec.filters import ZeroAdvantageFilter
from trainer_core.trajectory import Group


def zero_advantage(spec: ZeroAdvantageFilter, groups: list[Group]) -> None:
    """Exclude the trajectories of groups whose known rewards differ by at most ``tolerance``."""
    for group in groups:
        rewards = [trajectory.reward for trajectory in group.trajectories if trajectory.reward is not None]
        if rewards and max(rewards) - min(rewards) <= spec.tolerance:
            for trajectory in group.trajectories:
                trajectory.excluded = trajectory.excluded or "zero_advantage"
