"""Operations over ragged batches: concatenated groups and sequences of unequal length."""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from kernels.backend import Backend, uses_triton
from kernels.ragged import reference


class GroupStatistics(NamedTuple):
    """Statistics of each group, shape [G]; 0 for an empty group."""

    mean: Tensor
    std: Tensor
    minimum: Tensor
    maximum: Tensor


def group_statistics(
    values: Tensor, starts: Tensor, *, sample: bool = False, backend: Backend = "auto"
) -> GroupStatistics:
    """Statistics of each group, without gradient.

    Args:
        values: [N], a floating type.
        starts: int64 [G + 1], ascending from 0 to N: group g is values starts[g] … starts[g + 1] − 1.
        sample: divide the squares by n − 1 instead of n; the deviation of a group of one is 0 either way.
        backend: see ``kernels.backend``.

    Raises:
        BackendUnavailable: Triton was requested but cannot run here.
        ValueError: the starts do not fit.
    """
    _check(values, starts)
    found = _implementation(values, backend).group_statistics(values.detach(), starts)
    mean, variance, low, high = found
    if sample:
        sizes = starts.diff().to(variance.dtype)
        variance = variance * sizes / (sizes - 1).clamp(min=1)
    return GroupStatistics(mean, variance.sqrt(), low, high)


def repeats_at_end(tokens: Tensor, starts: Tensor, max_period: int, *, backend: Backend = "auto") -> Tensor:
    """Number of repeats of the best pattern of at most ``max_period`` tokens at each sequence's end, int64 [S].

    Only whole patterns count; 1 if nothing repeats, 0 for an empty sequence.

    Args:
        tokens: int64 [N].
        starts: int64 [S + 1], ascending from 0 to N.
        max_period: longest pattern.
        backend: see ``kernels.backend``.

    Raises:
        BackendUnavailable: Triton was requested but cannot run here.
        ValueError: the starts do not fit.
    """
    _check(tokens, starts)
    found: Tensor = _implementation(tokens, backend).repeats_at_end(tokens, starts, max_period)
    return found


def _implementation(tensor: Tensor, backend: Backend) -> Any:
    if uses_triton(tensor, backend):
        from kernels.ragged import triton

        return triton
    return reference


def _check(values: Tensor, starts: Tensor) -> None:
    ascending = len(starts) > 0 and int(starts[0]) == 0 and not bool((starts.diff() < 0).any())
    if not ascending or int(starts[-1]) != len(values) or starts.dtype != torch.int64:
        raise ValueError(f"starts must be int64 and ascend from 0 to {len(values)}")
