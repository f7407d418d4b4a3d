"""Splits a step's trajectories into minibatches and over ranks. Every rank computes the same split."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

from trainer_core.episodes import Group, Trajectory
from trainer_core.update.packed.packing import trains

T = TypeVar("T")


def group_parts(groups: Sequence[Group], count: int) -> list[Sequence[Group]]:
    """Split groups, in order, into ``count`` parts of nearly the same number of groups."""
    edges = [round(index * len(groups) / count) for index in range(count + 1)]
    return [groups[start:stop] for start, stop in pairwise(edges)]


def minibatches(groups: Sequence[Group], count: int) -> list[list[Trajectory]]:
    """The trajectories of each of ``group_parts`` that take part in the loss; empty parts are left out."""
    found = [
        [trajectory for group in part for trajectory in group.trajectories if trains(trajectory)]
        for part in group_parts(groups, count)
    ]
    return [part for part in found if part]


def whole_shards(groups: Sequence[Group], ranks: int) -> list[list[Group]]:
    """Distribute groups over ``ranks`` by packed tokens, largest first. No group is split."""
    return _spread(groups, lambda group: _tokens(group.trajectories), ranks)


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
    spread = _spread(pieces, _tokens, ranks)
    return _level([[trajectory for piece in part for trajectory in piece] for part in spread])


def _spread(pieces: Sequence[T], size: Callable[[T], int], ranks: int) -> list[list[T]]:
    """Give each piece, largest first, to the rank with the least so far."""
    result: list[list[T]] = [[] for _ in range(ranks)]
    load = [0] * ranks
    for piece in sorted(pieces, key=size, reverse=True):
        lightest = load.index(min(load))
        result[lightest].append(piece)
        load[lightest] += size(piece)
    return result


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
