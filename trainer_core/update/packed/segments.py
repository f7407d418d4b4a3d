"""Attention between packed tokens: segments of queries with their keys, batched by similar size.

A packed micro-batch holds each distinct prompt once, followed by the completions sampled from it, and each prefix that
completions share once, followed by what continues it:

    packed:   | prompt A | A.1 | A.2 | A.2.a | A.2.b | prompt B | B.1 | ...
    segments:   A -> A     A.1 -> A, A.1     A.2.a -> A, A.2, A.2.a     B -> B    B.1 -> B, B.1

A segment's keys are in position order, so key slot j holds position j and causality is one comparison with the query's
position. Everything outside the attention (most of the arithmetic) works on packed tokens without padding. Inside it,
segments of similar size are padded to one another in a bucket, except long ones, which are computed separately.
"""

import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from trainer_core.update.device import move
from trainer_core.update.packed.runs import Runs, build_runs
from trainer_core.update.packed.segment import Segment
from trainer_core.update.packed.spans import Spans, build_spans

__all__ = ["Bucket", "Layout", "Segment", "build_layout"]

MAX_PADDED_SHARE = 0.2
MAX_BUCKET_SCORES = 1 << 20
"""Score-matrix elements per head and bucket: keeps the scores of small buckets in the processor's cache."""
MAX_MASKED_KEYS = 1024
"""Segments with more keys are computed separately, without a mask that grows with the square of their length."""


@dataclass(frozen=True, slots=True, eq=False)
class Bucket:
    """B segments padded to Lq queries and Lk keys."""

    query_rows: Tensor
    """Packed token of each query slot, int64 [B, Lq]; padding repeats token 0 of the packing."""
    key_rows: Tensor
    """Packed token of each key slot, int64 [B, Lk]."""
    query_positions: Tensor
    """Position of each query in its sequence, int64 [B, Lq]; 0 for padding."""

    def to(self, device: torch.device) -> "Bucket":
        """The bucket on ``device``."""
        return Bucket(*(move(rows, device) for rows in (self.query_rows, self.key_rows, self.query_positions)))

    def make_mask(self, window: int | None, dtype: torch.dtype) -> Tensor:
        """Mask to add to the scores, [B, Lq, Lk]: 0 where the query may look, −inf elsewhere."""
        slots = torch.arange(self.key_rows.shape[1], device=self.key_rows.device)
        positions = self.query_positions.unsqueeze(-1)
        # Padded key slots come after every real position, so causality hides them too.
        hidden = slots > positions
        if window is not None:
            hidden |= slots <= positions - window
        return torch.zeros(hidden.shape, dtype=dtype, device=hidden.device).masked_fill_(hidden, -torch.inf)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Layout:
    """The attention pattern of one packed micro-batch of N tokens."""

    buckets: tuple[Bucket, ...]
    slots: Tensor
    """Position of packed token n's output among all query slots of all buckets in order, int64 [N]."""
    spans: Spans
    """All segments in the form that variable-length kernels accept."""
    runs: Runs | None = None
    """The same for layers with a state; None if a prefix is not a separate run."""
    long: tuple[Segment, ...] = ()
    """Segments of many keys, whose query slots follow those of the buckets."""
    _masks: dict[tuple[int, int | None, torch.dtype], Tensor] = field(default_factory=dict, repr=False)

    def to(self, device: torch.device) -> "Layout":
        """The layout on ``device``."""
        moved = tuple(bucket.to(device) for bucket in self.buckets)
        runs = None if self.runs is None else self.runs.to(device)
        return Layout(moved, move(self.slots, device), self.spans.to(device), runs, self.long)

    def mask(self, number: int, window: int | None, dtype: torch.dtype) -> Tensor:
        """``make_mask`` of bucket ``number``, computed once for all layers.

        Masks grow with queries times keys, so only the most recently used layout caches its masks. An update of many
        micro-batches then holds the masks of one.
        """
        _Latest.become(self)
        bucket = self.buckets[number]
        cuts = None if window is None or bucket.key_rows.shape[1] <= window else window
        found = self._masks.get((number, cuts, dtype))
        if found is None:
            found = self._masks[number, cuts, dtype] = bucket.make_mask(cuts, dtype)
        return found

    def drop_masks(self) -> None:
        """Drop the masks; they are computed again on request."""
        self._masks.clear()


class _Latest:
    """The layout that caches its masks."""

    _layout: "weakref.ref[Layout] | None" = None

    @classmethod
    def become(cls, layout: Layout) -> None:
        """Let ``layout`` cache its masks, and drop those of the previous one."""
        before = None if cls._layout is None else cls._layout()
        if before is layout:
            return
        if before is not None:
            before.drop_masks()
        cls._layout = weakref.ref(layout)


def build_layout(segments: Sequence[Segment], *, exact: bool = False) -> Layout:
    """Batch ``segments``, which together cover each packed token exactly once as a query.

    Args:
        segments: in any order.
        exact: each in its own bucket, without padding.

    Raises:
        ValueError: a packed token is not a query exactly once.
    """
    num_tokens = sum(segment.num_queries for segment in segments)
    slots = np.full(num_tokens, -1, dtype=np.int64)
    buckets = []
    filled = 0
    ordered = sorted(segments, key=lambda segment: (segment.num_keys, segment.num_queries))
    short = [segment for segment in ordered if segment.num_keys <= MAX_MASKED_KEYS]
    long = sorted(ordered[len(short) :], key=lambda one: one.start)
    for members in [[one] for one in short] if exact else _similar(short):
        width = max(segment.num_queries for segment in members)
        buckets.append(_bucket(members, width))
        for row, segment in enumerate(members):
            first = filled + row * width
            slots[segment.start : segment.stop] = np.arange(first, first + segment.num_queries)
        filled += len(members) * width
    for segment in long:
        slots[segment.start : segment.stop] = np.arange(filled, filled + segment.num_queries)
        filled += segment.num_queries
    if num_tokens and (slots.min() < 0 or len(np.unique(slots)) != num_tokens):
        raise ValueError("the segments must cover each packed token exactly once")
    packed = sorted(segments, key=lambda segment: segment.start)
    runs = build_runs(packed)
    return Layout(tuple(buckets), torch.from_numpy(slots), build_spans(packed), runs, tuple(long))


def _similar(ordered: Sequence[Segment]) -> list[list[Segment]]:
    """Split segments, sorted by size, into runs that waste little when padded to their largest member."""
    runs: list[list[Segment]] = []
    width = used = 0
    for segment in ordered:
        grown = max(width, segment.num_queries)
        cost = used + segment.num_queries * segment.num_keys
        padded = (len(runs[-1]) + 1) * grown * segment.num_keys if runs else 0
        few = padded <= 4096
        if not runs or padded > MAX_BUCKET_SCORES or (not few and cost < (1 - MAX_PADDED_SHARE) * padded):
            runs.append([segment])
            width, used = segment.num_queries, segment.num_queries * segment.num_keys
        else:
            runs[-1].append(segment)
            width, used = grown, cost
    return runs


def _bucket(members: Sequence[Segment], width: int) -> Bucket:
    depth = max(segment.num_keys for segment in members)
    query_rows = np.zeros((len(members), width), dtype=np.int64)
    key_rows = np.zeros((len(members), depth), dtype=np.int64)
    positions = np.zeros((len(members), width), dtype=np.int64)
    for row, segment in enumerate(members):
        queries, keys = segment.num_queries, segment.num_keys
        query_rows[row, :queries] = np.arange(segment.start, segment.stop)
        key_rows[row, :keys] = segment.key_rows()
        positions[row, :queries] = np.arange(keys - queries, keys)
    return Bucket(torch.from_numpy(query_rows), torch.from_numpy(key_rows), torch.from_numpy(positions))
