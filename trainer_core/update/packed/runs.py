"""Packed tokens for layers that carry a state from token to token: which run continues which.

    packed:    | prompt A | A.1 | A.1.a | A.1.b | A.2 | prompt B | B.1 |
    level 0:     A, B                each starts from nothing, and leaves a state after its last token
    level 1:     A.1, A.2, B.1       each starts from the state after its prompt
    level 2:     A.1.a, A.1.b        each starts from the state after A.1

So a prefix shared by several sequences is computed once, and its state branches.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from trainer_core.update.device import move
from trainer_core.update.packed.segment import Segment, Span


@dataclass(frozen=True, slots=True)
class Level:
    """Runs that each continue a run of the level before; those of the first level start from nothing."""

    starts: Tensor
    """Edges of the runs, counted from the level's first token, int64 [R + 1]; on the CPU, which decides launches."""
    parents: Tensor
    """The run of the level before that each continues, int64 [R]; empty at the first level."""


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs of one packed micro-batch of N tokens, by level."""

    order: Tensor
    """Packed tokens, level after level, int64 [N]."""
    places: Tensor
    """Position of packed token n in ``order``, int64 [N]."""
    levels: tuple[Level, ...]

    def to(self, device: torch.device) -> "Runs":
        """The runs on ``device``."""
        levels = tuple(replace(level, parents=move(level.parents, device)) for level in self.levels)
        return replace(self, order=move(self.order, device), places=move(self.places, device), levels=levels)


def build_runs(segments: Sequence[Segment]) -> Runs | None:
    """The runs of segments that together cover each packed token once.

    Returns:
        None if the tokens before a run are not exactly another run and what precedes that: then no single state
        represents them.
    """
    depth = max((len(one.prefix) for one in segments), default=0)
    by_level = [[one for one in segments if len(one.prefix) == level] for level in range(depth + 1)]
    levels: list[Level] = []
    before: dict[tuple[Span, ...], int] = {}
    for members in by_level:
        paths = [one.prefix for one in members]
        if levels and any(path not in before for path in paths):
            return None
        parents = torch.tensor([before[path] for path in paths] if levels else [], dtype=torch.int64)
        levels.append(Level(_edges([one.num_queries for one in members]), parents))
        before = {(*one.prefix, one.own): index for index, one in enumerate(members)}
    spans = [np.arange(*one.own) for members in by_level for one in members]
    order = np.concatenate(spans) if spans else np.zeros(0, np.int64)
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return Runs(torch.from_numpy(order.astype(np.int64)), torch.from_numpy(places), tuple(levels))


def _edges(lengths: Sequence[int]) -> Tensor:
    return torch.from_numpy(np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64))
