"""The operations of ``kernels/`` on this machine, in processor time on one core.

Peak memory is measured in a process of its own, which meets none that another case has left behind.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any

import torch

from kernels.batch_invariant import bench as batch_invariant
from kernels.lightning_attention import bench as lightning_attention
from kernels.linear_logprob import bench as linear_logprob
from kernels.policy_loss import bench as policy_loss
from kernels.ragged import bench as ragged
from tests.bench.measured import in_turns, peak_bytes
from tests.bench.report import Figure

VOCABULARY, TOKENS, WIDTHS = 151_936, 128, (128, 256, 1024)


def measure() -> list[Figure]:
    """Fused log-probability, lightning attention, batch-invariant operations, losses and ragged scans."""
    torch.set_num_threads(1)
    figures = _linear_logprob()
    others: list[tuple[str, Mapping[str, Callable[[], Any]]]] = [
        ("attention, 2,048 tokens, 4 heads of 64", lightning_attention.cases(2048)),
        ("1,000 rows of 512", batch_invariant.cases()),
        ("loss of 200,000 tokens", policy_loss.cases(200_000)),
        ("256 groups", ragged.cases()),
    ]
    for title, cases in others:
        times = in_turns(cases, 7)
        figures += [Figure(f"{title}: {name}", seconds * 1000, "ms CPU") for name, seconds in times.items()]
    return figures


def _linear_logprob() -> list[Figure]:
    figures = []
    for width in WIDTHS:
        times = in_turns(linear_logprob.cases(TOKENS, width, VOCABULARY), 3)
        figures.append(Figure(f"width {width}: naive", times["naive"], "s CPU"))
        figures.append(Figure(f"width {width}: speed of the fused over it", times["naive"] / times["fused"], "", "≥ 1"))
    for tokens, width in ((1024, 128), (1024, 1024)):
        naive, fused = (_peak(tokens, width, name) for name in ("naive", "fused"))
        # Both sides hold the weight's gradient, which is a result and not a buffer.
        gradient = 4 * (VOCABULARY + tokens) * width
        figures.append(Figure(f"{tokens} tokens, width {width}: naive peak memory", naive / 2**20, "MiB"))
        figures.append(Figure(f"{tokens} tokens, width {width}: fused peak memory", fused / 2**20, "MiB"))
        figures.append(Figure(f"{tokens} tokens, width {width}: fused over naive", fused / naive, "", "≤ 0.1"))
        share = max(fused - gradient, 0) / (naive - gradient)
        figures.append(Figure(f"{tokens} tokens, width {width}: the same without the gradients", share, "", "≤ 0.1"))
    return figures


def _peak(tokens: int, width: int, name: str) -> int:
    command = [sys.executable, "-m", "tests.bench.kernels", str(tokens), str(width), name]
    return int(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def _print_peak(tokens: int, width: int, name: str) -> None:
    torch.set_num_threads(1)
    print(json.dumps(peak_bytes(linear_logprob.cases(tokens, width, VOCABULARY)[name])))


if __name__ == "__main__":
    _print_peak(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
