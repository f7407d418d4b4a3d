"""Repetition (MiniMax-M1, arXiv 2506.13585): a completion that ends in a loop teaches the loop."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from kernels import ragged
from trainer_core.episodes import Group
from trainer_core.spec.methods.filters import RepetitionFilter
from trainer_core.spec.methods.kinds import Compared


def repetition(spec: RepetitionFilter, groups: list[Group], compares: Compared = "group") -> None:
    """Exclude trajectories that the engine stopped because of repetition, or that end in one."""
    trajectories = [trajectory for group in groups for trajectory in group.trajectories]
    repeats = repeats_at_end([trajectory.token_ids for trajectory in trajectories], spec.max_period)
    for trajectory, times in zip(trajectories, repeats, strict=True):
        if str(trajectory.finish_reason) == "repetition" or times >= spec.min_repeats:
            trajectory.exclude("repetition")


def repeats_at_end(completions: Sequence[NDArray[np.int32]], max_period: int) -> list[int]:
    """Number of times that the best pattern of at most ``max_period`` tokens repeats at the end of each; whole repeats
    only.

    A completion that then ended by itself has an end-of-sequence token after the loop, so the last token may differ.
    """
    whole, shorter = (_repeats(parts, max_period) for parts in (completions, [one[:-1] for one in completions]))
    return torch.maximum(whole, shorter).tolist()


def _repeats(parts: Sequence[NDArray[np.int32]], max_period: int) -> torch.Tensor:
    tokens = np.concatenate([np.zeros(0, np.int64), *parts])
    starts = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    return ragged.repeats_at_end(torch.from_numpy(tokens.astype(np.int64)), torch.from_numpy(starts), max_period)
