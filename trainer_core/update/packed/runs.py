"""Packed tokens for layers that carry a state from token to token: which run continues which.

    packed:   | prompt A | A.1 | A.2 | prompt B | B.1 |
    first:      A, B            each starts from nothing, and leaves a state after its last token
    then:       A.1, A.2, B.1   each starts from the state after its prompt

So a prompt shared by several samples is computed once, and its state branches.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from trainer_core.update.device import move

Span = tuple[int, int]
"""Packed tokens [start, stop)."""


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs of one packed micro-batch of N tokens: A that start from nothing, B that continue one of these."""

    order: Tensor
    """Packed tokens, those of the first kind before those of the second, int64 [N]."""
    places: Tensor
    """Position of packed token n in ``order``, int64 [N]."""
    starts: Tensor
    """Edges of the first kind's runs in ``order``, int64 [A + 1]."""
    later_starts: Tensor
    """Edges of the second kind's runs, counted from the first token of that kind, int64 [B + 1]."""
    parents: Tensor
    """The run of the first kind that each run of the second kind continues, int64 [B]."""

    def to(self, device: torch.device) -> "Runs":
        """The runs on ``device``; edges stay on the CPU, where launches are decided."""
        moved = {name: move(getattr(self, name), device) for name in ("order", "places", "parents")}
        return replace(self, **moved)


def build_runs(segments: Sequence[tuple[Span, Span]]) -> Runs | None:
    """The runs of (tokens, preceding tokens) pairs that together cover each packed token once.

    Returns:
        None if the tokens before a run are not exactly a run that starts from nothing: then no single state represents
        them.
    """
    first = [own for own, before in segments if before[0] == before[1]]
    later = [(own, before) for own, before in segments if before[0] != before[1]]
    number = {own: index for index, own in enumerate(first)}
    if any(before not in number for _, before in later):
        return None
    spans = [*first, *(own for own, _ in later)]
    order = np.concatenate([np.arange(*span) for span in spans]) if spans else np.zeros(0, np.int64)
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return Runs(
        torch.from_numpy(order.astype(np.int64)),
        torch.from_numpy(places),
        _edges(first),
        _edges([own for own, _ in later]),
        torch.tensor([number[before] for _, before in later], dtype=torch.int64),
    )


def _edges(spans: Sequence[Span]) -> Tensor:
    lengths = [stop - start for start, stop in spans]
    return torch.from_numpy(np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64))
