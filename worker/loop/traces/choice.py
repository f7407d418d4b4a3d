"""Choice of the groups of a step that stay when the step is no longer among the newest."""

import math
from collections.abc import Sequence

import numpy as np

from trainer_core.episodes import Group, Trajectory


def staying(groups: Sequence[Group], count: int) -> list[int]:
    """Indices of ``count`` groups: best, worst, widest gap, and others spread over the batch; in batch order.

    Best and worst are chosen among groups whose rewards differ, if there are any: dead groups teach nothing. The others
    are spread over live groups first and dead groups next, so that each kind gets its share.
    """
    if count >= len(groups):
        return list(range(len(groups)))
    means = [_mean(group) for group in groups]
    dead = [is_dead(group) for group in groups]
    gaps = [_widest(group) for group in groups]
    candidates = [place for place in range(len(groups)) if not dead[place]] or list(range(len(groups)))
    wanted = [
        max(candidates, key=lambda place: means[place]),
        min(candidates, key=lambda place: means[place]),
        max(range(len(groups)), key=lambda place: gaps[place]),
    ]
    chosen = list(dict.fromkeys(wanted))[:count]
    left = sorted(
        (place for place in range(len(groups)) if place not in chosen), key=lambda place: (dead[place], place)
    )
    more = count - len(chosen)
    # From the middle of each stretch, so that a single choice may be of either kind.
    chosen += [left[(2 * index + 1) * len(left) // (2 * more)] for index in range(more)]
    return sorted(chosen)


def spread(places: Sequence[int], count: int) -> list[int]:
    """Choose ``count`` of the places, spread evenly; all of them if there are fewer."""
    if count >= len(places):
        return list(places)
    return [places[index * len(places) // count] for index in range(count)]


def is_dead(group: Group) -> bool:
    """Whether all of its rewards are equal, so that it teaches nothing."""
    rewards = {t.reward for t in group.trajectories if t.reward is not None}
    return len(rewards) < 2


def worst_gap(trajectory: Trajectory) -> float | None:
    """Largest |log π_learner − log π_engine| of its sampled tokens; None if the learner has not scored it."""
    learner = trajectory.learner_logprobs
    if learner is None or not trajectory.sampled.any():
        return None
    gaps = np.abs(learner - trajectory.behaviour_logprobs)[trajectory.sampled]
    return float(gaps.max()) if np.isfinite(gaps).all() else math.inf


def _widest(group: Group) -> float:
    """Worst gap of its trajectories; -1 if the learner has scored none."""
    return max((gap for t in group.trajectories if (gap := worst_gap(t)) is not None), default=-1.0)


def _mean(group: Group) -> float:
    rewards = [t.reward for t in group.trajectories if t.reward is not None]
    return sum(rewards) / len(rewards) if rewards else 0.0
