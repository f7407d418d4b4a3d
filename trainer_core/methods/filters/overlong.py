"""Overlong completions, with a separate limit (DAPO, arXiv 2503.14476, §3.4)."""

from trainer_core.episodes import Group
from trainer_core.spec.methods.filters import OverlongFilter
from trainer_core.spec.methods.kinds import Compared


def overlong(spec: OverlongFilter, groups: list[Group], compares: Compared = "group") -> None:
    """Exclude trajectories longer than ``max_tokens``."""
    for group in groups:
        for trajectory in group.trajectories:
            if trajectory.length > spec.max_tokens:
                trajectory.exclude("overlong")
