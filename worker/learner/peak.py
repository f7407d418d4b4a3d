"""Peak arithmetic of this process's device, measured by matrix products."""

from __future__ import annotations

import time
from collections.abc import Iterable

SIZES = {"cpu": 1024, "cuda": 8192}
"""Rows and columns: enough to reach the peak, in a few milliseconds."""
TRIES = 8
"""The best try counts: other processes may be using the same cores."""


def measure_peaks(device: str, dtypes: Iterable[str], threads: int) -> dict[str, float]:
    """Floating-point operations per second of a matrix product, by the name of its number type.

    Args:
        device: "cpu" or "cuda".
        dtypes: names of number types.
        threads: threads on a CPU, one per core. The previous number is restored afterwards.
    """
    import torch

    from trainer_core.update.device import settle

    kind = torch.device(device).type
    size, before = SIZES[kind], torch.get_num_threads()
    found: dict[str, float] = {}
    torch.set_num_threads(threads)
    try:
        for name in dict.fromkeys(dtypes):
            left, right = (torch.ones(size, size, dtype=getattr(torch, name), device=device) for _ in range(2))
            best = float("inf")
            for _ in range(TRIES):
                started = time.perf_counter()
                torch.mm(left, right)
                settle(left.device)
                best = min(best, time.perf_counter() - started)
            found[name] = 2 * size**3 / best
    finally:
        torch.set_num_threads(before)
    return found
