"""How a step's trajectories are cut into minibatches and over ranks. Every rank computes the same cut."""

from collections.abc import Sequence
from itertools import pairwise

from trainer_core.trajectory import Group, Trajectory
from trainer_core.update.packing import trains


def minibatches(groups: Sequence[Group], count: int) -> list[list[Trajectory]]:
    """Cut groups, in order, into ``count`` parts of nearly the same number of groups; empty parts are left out."""
    edges = [round(index * len(groups) / count) for index in range(count + 1)]
    parts = [
        [trajectory for group in groups[start:stop] for trajectory in group.trajectories if trains(trajectory)]
        for start, stop in pairwise(edges)
    ]
    return [part for part in parts if part]


def shards(trajectories: Sequence[Trajectory], ranks: int) -> list[list[Trajectory]]:
    """Share trajectories out over ``ranks`` by packed tokens, the largest pieces first.

    Samples of one prompt stay together, so that their rank computes the prompt once, unless there are too few prompts
    to balance the load.
    """
    if ranks == 1:
        return [list(trajectories)]
    families: dict[bytes, list[Trajectory]] = {}
    for trajectory in trajectories:
        families.setdefault(trajectory.prompt_ids.tobytes(), []).append(trajectory)
    pieces = list(families.values()) if len(families) >= 4 * ranks else [[trajectory] for trajectory in trajectories]
    result: list[list[Trajectory]] = [[] for _ in range(ranks)]
    load = [0] * ranks
    for piece in sorted(pieces, key=_tokens, reverse=True):
        lightest = load.index(min(load))
        result[lightest] += piece
        load[lightest] += _tokens(piece)
    return result


def _tokens(piece: Sequence[Trajectory]) -> int:
    return len(piece[0].prompt_ids) + sum(trajectory.length for trajectory in piece)
