"""Zero-advantage groups (DAPO, arXiv 2503.14476, §3.2): equal rewards carry no signal."""

from trainer_core.spec.filters import ZeroAdvantageFilter
from trainer_core.trajectory import Group


def zero_advantage(spec: ZeroAdvantageFilter, groups: list[Group]) -> None:
    """Exclude the trajectories of groups whose known rewards differ by at most ``tolerance``.

    The rewards are those that the advantages are made of: one that failed counts neither here nor there.
    """
    for group in groups:
        rewards = [t.reward for t in group.trajectories if t.reward is not None and t.excluded != "reward_error"]
        if rewards and max(rewards) - min(rewards) <= spec.tolerance:
            for trajectory in group.trajectories:
                trajectory.excluded = trajectory.excluded or "zero_advantage"
