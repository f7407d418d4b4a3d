"""Ragged statistics and the repetition scan, against numpy and against counting copies one by one."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.ragged import group_statistics, repeats_at_end

SIZES = [3, 0, 1, 5, 0]


def starts_of(sizes: list[int]) -> torch.Tensor:
    return torch.tensor(np.cumsum([0, *sizes]))


def copies_at_end(sequence: list[int], max_period: int) -> int:
    """The most copies of a pattern of at most ``max_period`` tokens that end the sequence; 1 where none repeats."""
    best = min(len(sequence), 1)
    for period in range(1, min(max_period, len(sequence)) + 1):
        pattern = sequence[-period:]
        copies = 1
        while pattern * (copies + 1) == sequence[-period * (copies + 1) :]:
            copies += 1
        best = max(best, copies)
    return best


@pytest.mark.parametrize("sample", [False, True])
@pytest.mark.parametrize("shift", [0.0, 1e8])
def test_statistics(sample: bool, shift: float) -> None:
    values = torch.randn(9, generator=torch.Generator().manual_seed(0), dtype=torch.float64) + shift
    found = group_statistics(values, starts_of(SIZES), sample=sample)
    first = 0
    for index, size in enumerate(SIZES):
        part = values[first : first + size].numpy()
        first += size
        std = part.std(ddof=int(sample and size > 1)) if size else 0.0
        expected = [part.mean(), std, part.min(), part.max()] if size else [0.0] * 4
        assert [float(column[index]) for column in found] == pytest.approx(expected, rel=1e-6, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(sequences=st.lists(st.lists(st.integers(0, 2), max_size=14), min_size=1, max_size=5), period=st.integers(0, 6))
def test_repeats_are_copies_at_the_end(sequences: list[list[int]], period: int) -> None:
    tokens = torch.tensor([token for sequence in sequences for token in sequence], dtype=torch.int64)
    found = repeats_at_end(tokens, starts_of([len(sequence) for sequence in sequences]), period)
    assert found.tolist() == [copies_at_end(sequence, period) for sequence in sequences]


def test_a_loop_by_hand() -> None:
    tokens = torch.tensor([9, 1, 2, 1, 2, 1, 2, 7, 7, 7, 5])
    assert repeats_at_end(tokens, starts_of([7, 3, 1]), 3).tolist() == [3, 3, 1]


def test_refusals() -> None:
    with pytest.raises(ValueError, match="ascend from 0 to 9"):
        group_statistics(torch.zeros(9), torch.tensor([0, 5, 3, 9]))
    with pytest.raises(ValueError, match="ascend from 0 to 2"):
        repeats_at_end(torch.zeros(2, dtype=torch.int64), torch.tensor([0, 1]), 3)
