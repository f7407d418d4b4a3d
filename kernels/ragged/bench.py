"""Benchmark of the ragged operations against a loop over groups and over sequences."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch

from kernels.ragged import group_statistics, repeats_at_end


def cases(groups: int = 256, longest: int = 512, device: str = "cpu") -> dict[str, Callable[[], Any]]:
    """Cases of the benchmark by name."""
    generator = torch.Generator().manual_seed(0)
    sizes = torch.randint(1, longest, (groups,), generator=generator)
    starts = torch.cat([torch.zeros(1, dtype=torch.int64), sizes.cumsum(0)]).to(device)
    values = torch.randn(int(sizes.sum()), generator=generator).to(device)
    tokens = torch.randint(0, 50, (len(values),), generator=generator).to(device)

    def loop() -> list[tuple[Any, ...]]:
        edges = starts.tolist()
        parts = [values[low:high] for low, high in pairwise(edges)]
        return [(part.mean(), part.std(correction=0), part.min(), part.max()) for part in parts]

    return {
        "group statistics": lambda: group_statistics(values, starts),
        "group statistics, a loop": loop,
        "repetition scan, periods to 16": lambda: repeats_at_end(tokens, starts, 16),
    }
