"""Overlong filtering (DAPO, arXiv 2503.14476, §3.4): completions cut at the maximum length do not count."""

from trainer_core.episodes import Group
from trainer_core.spec.methods.filters import TruncatedFilter
from trainer_core.spec.methods.kinds import Compared


def truncated(spec: TruncatedFilter, groups: list[Group], compares: Compared = "group") -> None:
    """Exclude trajectories that ended by "length"."""
    for group in groups:
        for trajectory in group.trajectories:
            if trajectory.finish_reason == "length":
                trajectory.exclude("truncated")
