"""All segments of a micro-batch end to end, in packed order, as variable-length kernels accept them.

packed:      | prompt A | A.1 | A.2 |
queries:     | prompt A | A.1 | A.2 |                    the packed tokens themselves
keys:        | prompt A | prompt A A.1 | prompt A A.2 |  gathered, if segments share a prefix
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from trainer_core.update.device import move
from trainer_core.update.packed.segment import Segment


@dataclass(frozen=True, slots=True)
class Spans:
    """S segments that together have each of N packed tokens as a query once."""

    query_edges: Tensor
    """First packed token of each segment, and N, int32 [S + 1]."""
    key_edges: Tensor
    """First key of each segment, and the number of keys, int32 [S + 1]."""
    key_rows: Tensor | None
    """Packed token of each key, int64; None if every segment's keys are its own tokens."""
    most_queries: int
    """Queries of the longest segment."""
    most_keys: int
    """Keys of the longest segment."""

    def to(self, device: torch.device) -> "Spans":
        """The spans on ``device``."""
        rows = None if self.key_rows is None else move(self.key_rows, device)
        edges = move(self.query_edges, device), move(self.key_edges, device)
        return replace(self, query_edges=edges[0], key_edges=edges[1], key_rows=rows)


def build_spans(segments: Sequence[Segment]) -> Spans:
    """Spans of ``segments``, which are in packed order and leave no token out."""
    rows = None
    if any(one.num_keys > one.num_queries for one in segments):
        rows = torch.from_numpy(np.concatenate([one.key_rows() for one in segments]).astype(np.int64))
    return Spans(
        query_edges=_edges([one.num_queries for one in segments]),
        key_edges=_edges([one.num_keys for one in segments]),
        key_rows=rows,
        most_queries=max((one.num_queries for one in segments), default=0),
        most_keys=max((one.num_keys for one in segments), default=0),
    )


def _edges(lengths: Sequence[int]) -> Tensor:
    return torch.from_numpy(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
