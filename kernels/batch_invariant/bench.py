"""Cost of the batch-invariant operations compared with torch's own."""

from collections.abc import Callable
from typing import Any

import torch

from kernels.batch_invariant import log_softmax, matmul, rms_norm


def cases(
    rows: int = 1000, width: int = 512, device: str = "cpu", dtype: torch.dtype = torch.float32
) -> dict[str, Callable[[], Any]]:
    """Forward passes by name."""
    generator = torch.Generator().manual_seed(0)
    x, right = (torch.randn(size, width, generator=generator).to(device, dtype) for size in (rows, width))
    scale = right[0]
    return {
        "matmul": lambda: matmul(x, right),
        "matmul, torch": lambda: x @ right.T,
        "rms_norm": lambda: rms_norm(x, scale, 1e-6),
        "rms_norm, torch": lambda: torch.nn.functional.rms_norm(x, (width,), scale, 1e-6),
        "log_softmax": lambda: log_softmax(x),
        "log_softmax, torch": lambda: torch.log_softmax(x, dim=1),
    }
