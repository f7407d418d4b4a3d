"""Zero-advantage groups (DAPO, arXiv 2503.14476, §3.2): equal rewards carry no signal."""

from trainer_core.episodes import Group
from trainer_core.spec.methods.filters import ZeroAdvantageFilter
from trainer_core.spec.methods.kinds import Compared


def zero_advantage(spec: ZeroAdvantageFilter, groups: list[Group], compares: Compared = "group") -> None:
    """Exclude the trajectories of groups that carry no signal.

    If rewards are compared within the group, it has no signal if the known rewards differ by at most ``tolerance``; a
    failed reward is ignored here and in the advantages, and so is one that is not compared. If every part of the reward
    is compared separately, equal sums may hide a signal: the group has none if all its advantages are 0. If rewards are
    compared with something outside the group, or after a penalty that is not known here, no group is left out.
    """
    for group in groups:
        graded = [t for t in group.trajectories if t.reward is not None and t.excluded != "reward_error"]
        known = [t for t in graded if t.credit.compared]
        match compares:
            case "group":
                rewards = [t.reward for t in known if t.reward is not None]
                silent = bool(rewards) and max(rewards) - min(rewards) <= spec.tolerance
            case "parts":
                silent = all(t.advantage == 0.0 for t in known)
            case _:
                silent = False
        if silent:
            for trajectory in group.trajectories:
                trajectory.exclude("zero_advantage")
