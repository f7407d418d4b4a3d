"""Cut of a step's trajectories into minibatches and over ranks. Every rank computes the same cut."""

from collections.abc import Sequence
from itertools import pairwise

from trainer_core.trajectory import Group, Trajectory
from trainer_core.update.packed.packing import trains


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

    Samples of one prompt stay together, so that their rank computes the prompt once, but for those that balance the
    load: no two ranks differ by more than one trajectory with its prompt.
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
    return _level(result)


def _level(parts: list[list[Trajectory]]) -> list[list[Trajectory]]:
    """Move single trajectories from the heaviest to the lightest part until one more would turn the scales."""
    while True:
        load = [packed_tokens(part) for part in parts]
        heavy, light = load.index(max(load)), load.index(min(load))
        gap = load[heavy] - load[light]
        if gap <= max(len(t.prompt_ids) + t.length for part in parts for t in part):
            return parts
        # Below the gap each move brings the two nearer to one another; about half of it brings them nearest.
        moved = min(parts[heavy], key=lambda t: abs(gap - 2 * (len(t.prompt_ids) + t.length)))
        parts[heavy] = [trajectory for trajectory in parts[heavy] if trajectory is not moved]
        parts[light].append(moved)


def packed_tokens(part: Sequence[Trajectory]) -> int:
    """Tokens of trajectories that share their prompts."""
    prompts = {trajectory.prompt_ids.tobytes(): len(trajectory.prompt_ids) for trajectory in part}
    return sum(prompts.values()) + sum(trajectory.length for trajectory in part)


def _tokens(piece: Sequence[Trajectory]) -> int:
    return len(piece[0].prompt_ids) + sum(trajectory.length for trajectory in piece)
