"""Rollout response recomposition (RoRecomp, arXiv 2509.25958): short right and long wrong answers have priority."""

import math

from trainer_core.episodes import Group, Trajectory
from trainer_core.rewards.success import least
from trainer_core.spec.methods.filters import RecompositionFilter
from trainer_core.spec.methods.kinds import Compared


def recomposition(spec: RecompositionFilter, groups: list[Group], compares: Compared = "group") -> None:
    """Exclude answers over the whole step that do not have priority in this step ("recomposed")."""
    pool = [t for group in groups for t in group.trajectories if t.excluded is None and t.reward is not None]
    right = [t for t in pool if t.reward is not None and t.reward >= least(spec.success)]
    wrong = [t for t in pool if t.reward is not None and t.reward < least(spec.success)]
    first = {id(t) for t in _first(spec, sorted(right, key=lambda t: t.length))}
    first |= {id(t) for t in _first(spec, sorted(wrong, key=lambda t: -t.length))}
    compensates = bool(groups) and _step(groups[0]) % spec.compensation_every == 0
    for trajectory in pool:
        if (id(trajectory) in first) == compensates:
            trajectory.exclude("recomposed")


def _first(spec: RecompositionFilter, ordered: list[Trajectory]) -> list[Trajectory]:
    return ordered[: math.ceil(spec.share * len(ordered) - 1e-9)]


def _step(group: Group) -> int:
    """The step for which a group was dispatched: the first part of its id."""
    return int(group.group_id.split("-")[0])
