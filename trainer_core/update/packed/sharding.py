"""Splits a step's trajectories into minibatches and over ranks. Every rank computes the same split."""

from collections.abc import Sequence
from itertools import pairwise

from trainer_core.episodes import Group, Trajectory
from trainer_core.update.packed.packing import trains


def minibatches(groups: Sequence[Group], count: int) -> list[list[Trajectory]]:
    """Split groups, in order, into ``count`` parts of nearly the same number of groups; empty parts are left out."""
    edges = [round(index * len(groups) / count) for index in range(count + 1)]
    parts = [
        [trajectory for group in groups[start:stop] for trajectory in group.trajectories if trains(trajectory)]
        for start, stop in pairwise(edges)
    ]
    return [part for part in parts if part]


def shards(trajectories: Sequence[Trajectory], ranks: int) -> list[list[Trajectory]]:
    """Distribute trajectories over ``ranks`` by packed tokens, largest pieces first.

    Samples of one prompt stay together, so that their rank computes the prompt once, except those moved to balance the
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
    """Move single trajectories from the heaviest to the lightest part until one more would tip the balance."""
    while True:
        load = [packed_tokens(part) for part in parts]
        heavy, light = load.index(max(load)), load.index(min(load))
        gap = load[heavy] - load[light]
        if gap <= max(len(t.prompt_ids) + t.length for part in parts for t in part):
            return parts
        # Any move smaller than the gap brings the two closer; a move of about half the gap brings them closest.
        moved = min(parts[heavy], key=lambda t: abs(gap - 2 * (len(t.prompt_ids) + t.length)))
        parts[heavy] = [trajectory for trajectory in parts[heavy] if trajectory is not moved]
        parts[light].append(moved)


def packed_tokens(part: Sequence[Trajectory]) -> int:
    """Number of tokens of trajectories that share their prompts."""
    prompts = {trajectory.prompt_ids.tobytes(): len(trajectory.prompt_ids) for trajectory in part}
    return sum(prompts.values()) + sum(trajectory.length for trajectory in part)


def _tokens(piece: Sequence[Trajectory]) -> int:
    return len(piece[0].prompt_ids) + sum(trajectory.length for trajectory in piece)
