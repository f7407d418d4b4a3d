"""Finished groups sent from engines to rewards and the loop, packed by the codec of ``columns``.

Everything that an engine reports per token is declared once, in ``COMPLETION_ARRAYS``: the field of a trajectory, and
how it is read from a completion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from trainer_core.episodes import PER_TOKEN, Credit, Group, Trajectory, begun
from worker.engine.types import Completion, FinishReason
from worker.messages.columns import Column
from worker.messages.episode import Dialogue

FINISH_REASONS: tuple[FinishReason, ...] = ("stop", "length", "aborted", "repetition", "pruned")
COMPLETION_LISTS: Mapping[str, tuple[str, DTypeLike]] = {
    "token_ids": ("token_ids", np.int32),
    "behaviour_logprobs": ("logprobs", np.float32),
    "versions": ("versions", np.int32),
    "sampled": ("sampled", np.bool_),
}
"""Trajectory fields that a completion holds as a list: the completion's field, and the number type."""
COMPLETION_ARRAYS: Mapping[str, Callable[[Completion], NDArray[Any] | None]] = {
    "top_ids": lambda completion: None if completion.top is None else completion.top.token_ids,
    "top_logprobs": lambda completion: None if completion.top is None else completion.top.logprobs,
    "routes": attrgetter("routes"),
}
"""Trajectory fields that a completion holds as an array, if it has them."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Whole groups of M completions."""

    groups: NDArray[np.int32]
    """Index of each completion's group among those of the message, shape [M]; a group's samples are contiguous."""
    columns: Mapping[str, Column]
    """Arrays of the completions by trajectory field. Fields that no completion has are left out."""
    finish: NDArray[np.int8]
    """Index into ``FINISH_REASONS``, shape [M]."""
    thinking_tokens: NDArray[np.int32]
    budget_hit: NDArray[np.bool_]
    seconds: NDArray[np.float32]
    dialogues: tuple[Dialogue, ...] = ()
    """The conversation of each, M values, if there is an environment; else empty."""

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def lengths(self) -> list[int]:
        """Completion tokens, M numbers."""
        column = self.columns["token_ids"]
        return [column.sizes[place] for place in column.places]

    @property
    def finish_reasons(self) -> list[FinishReason]:
        """Reason why each completion ended, M values."""
        return [FINISH_REASONS[code] for code in self.finish.tolist()]

    def token_ids(self) -> list[NDArray[np.int32]]:
        """Token ids of each completion, shape [T] each."""
        return [ids for ids in self.columns["token_ids"].arrays() if ids is not None]


def pack(finished: Sequence[tuple[int, Sequence[Completion]]], dialogues: Sequence[Dialogue] = ()) -> Chunk:
    """Pack whole groups, given as (index, completions in sample order), and the conversation of each completion."""
    completions = [completion for _, group in finished for completion in group]
    columns = {
        name: Column.joined([getattr(completion, source) for completion in completions], dtype)
        for name, (source, dtype) in COMPLETION_LISTS.items()
    }
    for name, read in COMPLETION_ARRAYS.items():
        arrays = [read(completion) for completion in completions]
        if name in PER_TOKEN:
            arrays = _filled(arrays, completions)
        if (column := Column.of(arrays)) is not None:
            columns[name] = column
    return Chunk(
        groups=np.repeat([index for index, _ in finished], [len(group) for _, group in finished]).astype(np.int32),
        columns=columns,
        finish=np.array([FINISH_REASONS.index(c.finish_reason) for c in completions], np.int8),
        thinking_tokens=np.array([c.thinking_tokens for c in completions], np.int32),
        budget_hit=np.array([c.budget_hit for c in completions], np.bool_),
        seconds=np.array([c.finished_at - c.started_at for c in completions], np.float32),
        dialogues=tuple(dialogues),
    )


def _filled(arrays: list[NDArray[Any] | None], completions: Sequence[Completion]) -> list[NDArray[Any] | None]:
    """Zeros for completions without values: never requested, or ended before the first token."""
    known = next((array for array in arrays if array is not None), None)
    if known is None:
        return arrays
    return [
        np.zeros((len(completion.token_ids), *known.shape[1:]), known.dtype) if array is None else array
        for array, completion in zip(arrays, completions, strict=True)
    ]


def unpack(
    chunk: Chunk,
    groups: Sequence[Group],
    prompts: Sequence[Sequence[NDArray[np.int32]]],
    temperatures: Sequence[float],
) -> None:
    """Append the chunk's trajectories to their groups.

    Args:
        chunk: whole groups.
        groups: the groups that the chunk's indices refer to.
        prompts: token ids of the prompt of each of their samples, shape [P] each.
        temperatures: sampling temperature of each group.
    """
    columns = {name: column.arrays() for name, column in chunk.columns.items()}
    reasons = chunk.finish_reasons
    for row, index in enumerate(chunk.groups.tolist()):
        group = groups[index]
        arrays: dict[str, Any] = {name: values[row] for name, values in columns.items()}
        group.trajectories.append(
            Trajectory(
                trajectory_id=f"{group.group_id}/{len(group.trajectories)}",
                prompt_ids=prompts[index][len(group.trajectories)],
                finish_reason=reasons[row],
                temperature=temperatures[index],
                thinking_tokens=int(chunk.thinking_tokens[row]),
                budget_hit=bool(chunk.budget_hit[row]),
                turns=begun(chunk.dialogues[row].turns, len(arrays["token_ids"])) if chunk.dialogues else (),
                generation_seconds=float(chunk.seconds[row]),
                credit=Credit(excluded="pruned" if reasons[row] == "pruned" else None),
                **arrays,
            )
        )


def repack(trajectories: Sequence[Trajectory]) -> Chunk:
    """Pack single trajectories to be scored again. The group of each is its index in the sequence."""
    column = Column.of([trajectory.token_ids for trajectory in trajectories])
    return Chunk(
        groups=np.arange(len(trajectories), dtype=np.int32),
        columns={} if column is None else {"token_ids": column},
        finish=np.array([FINISH_REASONS.index(t.finish_reason) for t in trajectories], np.int8),
        dialogues=tuple(Dialogue(t.turns) for t in trajectories) if any(t.turns for t in trajectories) else (),
        thinking_tokens=np.array([t.thinking_tokens for t in trajectories], np.int32),
        budget_hit=np.array([t.budget_hit for t in trajectories], np.bool_),
        seconds=np.array([t.generation_seconds for t in trajectories], np.float32),
    )
