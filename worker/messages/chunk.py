"""Finished groups on their way between actors: one set of arrays for many completions, never an object per token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trainer_core.trajectory import Group, Trajectory
from worker.engine.types import Completion, FinishReason

FINISH_REASONS: tuple[FinishReason, ...] = ("stop", "length", "aborted", "repetition", "pruned")


@dataclass(frozen=True, slots=True)
class Chunk:
    """Whole groups of M completions with T tokens in all."""

    groups: NDArray[np.int32]
    """Index of each completion's group among those of the message, shape [M]; a group's samples stand together."""
    offsets: NDArray[np.int64]
    """First token of each completion, and T at the end, shape [M + 1]."""
    token_ids: NDArray[np.int32]
    logprobs: NDArray[np.float32]
    versions: NDArray[np.int32]
    sampled: NDArray[np.bool_]
    finish: NDArray[np.int8]
    """Index into ``FINISH_REASONS``, shape [M]."""
    thinking_tokens: NDArray[np.int32]
    budget_hit: NDArray[np.bool_]
    seconds: NDArray[np.float32]
    top_ids: NDArray[np.int32] | None = None
    """The likeliest tokens at each step, shape [T, K]; None where no completion was asked for them."""
    top_logprobs: NDArray[np.float32] | None = None
    routes: NDArray[Any] | None = None
    """The experts of each token but the last, prompts included, one completion behind the other, shape [R, L, K]; None
    where no completion has them."""
    route_offsets: NDArray[np.int64] | None = None
    """First of each completion's rows, and R at the end, shape [M + 1]."""

    def __len__(self) -> int:
        return len(self.groups)

    def tokens(self) -> Iterator[NDArray[np.int32]]:
        """Token ids of each completion."""
        for start, end in zip(self.offsets[:-1], self.offsets[1:], strict=True):
            yield self.token_ids[start:end]


def pack(finished: Sequence[tuple[int, Sequence[Completion]]]) -> Chunk:
    """Columns of whole groups, given as (index, completions in sample order)."""
    completions = [completion for _, group in finished for completion in group]
    lengths = [len(completion.token_ids) for completion in completions]
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return Chunk(
        groups=np.repeat([index for index, _ in finished], [len(group) for _, group in finished]).astype(np.int32),
        offsets=offsets,
        token_ids=np.array([token for c in completions for token in c.token_ids], np.int32),
        logprobs=np.array([value for c in completions for value in c.logprobs], np.float32),
        versions=np.array([version for c in completions for version in c.versions], np.int32),
        sampled=np.array([flag for c in completions for flag in c.sampled], np.bool_),
        finish=np.array([FINISH_REASONS.index(c.finish_reason) for c in completions], np.int8),
        thinking_tokens=np.array([c.thinking_tokens for c in completions], np.int32),
        budget_hit=np.array([c.budget_hit for c in completions], np.bool_),
        seconds=np.array([c.finished_at - c.started_at for c in completions], np.float32),
        **_top(completions),
        **_routes(completions),
    )


def _top(completions: Sequence[Completion]) -> dict[str, NDArray[Any]]:
    """The columns of the likeliest tokens; completions that were not asked for them have zeros."""
    size = max((c.top.token_ids.shape[1] for c in completions if c.top is not None), default=0)
    if not size:
        return {}
    rows = [(len(c.token_ids), c.top) for c in completions]
    ids = [np.zeros((length, size), np.int32) if top is None else top.token_ids for length, top in rows]
    logprobs = [np.zeros((length, size), np.float32) if top is None else top.logprobs for length, top in rows]
    return {"top_ids": np.concatenate(ids), "top_logprobs": np.concatenate(logprobs)}


def _routes(completions: Sequence[Completion]) -> dict[str, NDArray[Any]]:
    """The columns of routes; a completion that ended before its first step has none."""
    known = [c.routes for c in completions if c.routes is not None]
    if not known:
        return {}
    lengths = [0 if c.routes is None else len(c.routes) for c in completions]
    return {"routes": np.concatenate(known), "route_offsets": np.concatenate([[0], np.cumsum(lengths)])}


def unpack(
    chunk: Chunk,
    groups: Sequence[Group],
    prompts: Sequence[Sequence[NDArray[np.int32]]],
    temperatures: Sequence[float],
) -> None:
    """Append the chunk's trajectories to their groups.

    Args:
        chunk: whole groups.
        groups: by the indices that the chunk names.
        prompts: token ids of each of their samples' prompts, shape [P] each.
        temperatures: at which each group was sampled.
    """
    bounds = chunk.offsets.tolist()
    for row, index in enumerate(chunk.groups.tolist()):
        span = slice(bounds[row], bounds[row + 1])
        group = groups[index]
        group.trajectories.append(
            Trajectory(
                trajectory_id=f"{group.group_id}/{len(group.trajectories)}",
                prompt_ids=prompts[index][len(group.trajectories)],
                token_ids=chunk.token_ids[span],
                behaviour_logprobs=chunk.logprobs[span],
                versions=chunk.versions[span],
                sampled=chunk.sampled[span],
                finish_reason=FINISH_REASONS[chunk.finish[row]],
                temperature=temperatures[index],
                thinking_tokens=int(chunk.thinking_tokens[row]),
                budget_hit=bool(chunk.budget_hit[row]),
                top_ids=None if chunk.top_ids is None else chunk.top_ids[span],
                top_logprobs=None if chunk.top_logprobs is None else chunk.top_logprobs[span],
                routes=_routes_of(chunk, row),
                generation_seconds=float(chunk.seconds[row]),
                excluded="pruned" if FINISH_REASONS[chunk.finish[row]] == "pruned" else None,
            )
        )


def _routes_of(chunk: Chunk, row: int) -> NDArray[Any] | None:
    if chunk.routes is None or chunk.route_offsets is None:
        return None
    start, end = chunk.route_offsets[row : row + 2]
    return chunk.routes[start:end] if end > start else None


def repack(trajectories: Sequence[Trajectory]) -> Chunk:
    """Columns of single trajectories, to be scored again; their group is their place in the sequence."""
    offsets = np.zeros(len(trajectories) + 1, np.int64)
    np.cumsum([t.length for t in trajectories], out=offsets[1:])
    return Chunk(
        groups=np.arange(len(trajectories), dtype=np.int32),
        offsets=offsets,
        token_ids=np.concatenate([t.token_ids for t in trajectories]),
        logprobs=np.concatenate([t.behaviour_logprobs for t in trajectories]),
        versions=np.concatenate([t.versions for t in trajectories]),
        sampled=np.concatenate([t.sampled for t in trajectories]),
        finish=np.array([FINISH_REASONS.index(t.finish_reason) for t in trajectories], np.int8),
        thinking_tokens=np.array([t.thinking_tokens for t in trajectories], np.int32),
        budget_hit=np.array([t.budget_hit for t in trajectories], np.bool_),
        seconds=np.array([t.generation_seconds for t in trajectories], np.float32),
    )
