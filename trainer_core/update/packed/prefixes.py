"""Prefix trees: sequences of one prompt share what they have in common, and not only the prompt.

Samples of one prompt rarely agree for long, but branches of one episode do: up to the turn at which they part. What is
shared is computed once, whoever trains on it, since a token's hidden state depends only on what precedes it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trainer_core.episodes import Trajectory

LEAST_SHARED = 64
"""Shortest prefix after the prompt that is shared, in tokens. A segment costs about as much as dozens of tokens."""


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """The positions [start, stop) of all sequences that pass through it."""

    start: int
    stop: int
    owner: int
    """A sequence that passes through it: its tokens are those of all others."""

    def __len__(self) -> int:
        return self.stop - self.start


Path = tuple[Stretch, ...]
"""A sequence from its prompt to its end, as stretches without gaps. Sequences with a common prefix share stretches."""


def input_ids(trajectory: Trajectory) -> NDArray[np.int32]:
    """Tokens that are read: all but the last, which predicts nothing, [P + T − 1]; the prompt, if there is no other."""
    return np.concatenate([trajectory.prompt_ids, trajectory.token_ids[:-1]])


def paths(trajectories: Sequence[Trajectory], family: Sequence[int], *, prompts_only: bool = False) -> dict[int, Path]:
    """The path of each sequence of a family, which has one prompt, by its index.

    Args:
        trajectories: all sequences.
        family: indices of those with this prompt.
        prompts_only: they share nothing else. Then a path does not depend on the others.
    """
    prompt = Stretch(0, len(trajectories[family[0]].prompt_ids), family[0])
    found: dict[int, Path] = {}
    parts = [[index] for index in family] if prompts_only else _alike(trajectories, family, len(prompt))
    for part in parts:
        found |= dict(_grow(trajectories, part, (prompt,)))
    return {index: found[index] for index in family}


def _grow(trajectories: Sequence[Trajectory], part: list[int], before: Path) -> Iterator[tuple[int, Path]]:
    """Paths of sequences that agree for ``LEAST_SHARED`` tokens after ``before``, or of a single one."""
    start = before[-1].stop
    if len(part) > 1:
        first = part[0]
        stop = min(_agreed(trajectories[first], trajectories[other], start) for other in part[1:])
        shared = (*before, Stretch(start, stop, first))
        for rest in _alike(trajectories, part, stop):
            yield from _grow(trajectories, rest, shared)
        return
    [index] = part
    length = len(trajectories[index].prompt_ids) + max(0, trajectories[index].length - 1)
    yield index, (*before, Stretch(start, length, index)) if length > start else before


def _alike(trajectories: Sequence[Trajectory], part: Sequence[int], start: int) -> list[list[int]]:
    """Split sequences by their next ``LEAST_SHARED`` tokens; those with fewer are alone."""
    parts: dict[Any, list[int]] = {}
    for index in part:
        trajectory = trajectories[index]
        first = start - len(trajectory.prompt_ids)
        ahead = trajectory.token_ids[first : min(first + LEAST_SHARED, trajectory.length - 1)]
        parts.setdefault(ahead.tobytes() if len(ahead) == LEAST_SHARED else index, []).append(index)
    # Sequences may read the same tokens by other experts; then they have other states.
    return [
        piece
        for members in parts.values()
        for piece in ([members] if _same_routes(trajectories, members, start) else [[index] for index in members])
    ]


def _same_routes(trajectories: Sequence[Trajectory], members: list[int], start: int) -> bool:
    first, *others = (trajectories[index].routes for index in members)
    if first is None or not others:
        return all(other is None for other in others)
    here = slice(start, start + LEAST_SHARED)
    return all(other is not None and np.array_equal(first[here], other[here]) for other in others)


def _agreed(one: Trajectory, other: Trajectory, start: int) -> int:
    """Position at which two sequences that agree up to ``start`` part: their tokens or experts differ, or one ends."""
    first = start - len(one.prompt_ids)
    stop = min(one.length, other.length) - 1
    differs = one.token_ids[first:stop] != other.token_ids[first:stop]
    if one.routes is not None and other.routes is not None:
        until = start + len(differs)
        differs |= (one.routes[start:until] != other.routes[start:until]).any(axis=tuple(range(1, one.routes.ndim)))
    return start + (int(differs.argmax()) if differs.any() else len(differs))
