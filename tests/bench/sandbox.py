"""Jailed Python tests a second: ``python -m tests.bench sandbox``."""

import sys
import time
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.report import Figure, show
from trainer_core.rewards.graders.jail import Limits
from worker.sandbox.pool import JailPool

JOBS = 600
PROCESSES = 2


def main() -> None:
    """Measure with one pool in each of two processes, which is how reward workers run them."""
    started = time.perf_counter()
    with get_context("spawn").Pool(PROCESSES) as workers:
        parts = workers.map(_work, [JOBS // PROCESSES] * PROCESSES)
    seconds = max(sum(part) for part in parts)
    times = sorted(value for part in parts for value in part)
    show(
        "Jailed Python tests, two processes",
        [
            Figure("tests a second", JOBS / seconds, "/s", "200"),
            Figure("median", times[len(times) // 2] * 1000, "ms"),
            Figure("95th percentile", times[len(times) * 95 // 100] * 1000, "ms", "under 10"),
            Figure("the whole, starts included", time.perf_counter() - started, "s"),
        ],
    )


def _work(jobs: int) -> list[float]:
    pool, limits, times = JailPool(), Limits(), []
    try:
        for warm in range(jobs + 20):
            started = time.perf_counter()
            outcome = pool.program("print(2 * int(input()))", "21\n", "python", limits)
            if warm >= 20:
                times.append(time.perf_counter() - started)
            if outcome.output != b"42\n":
                raise RuntimeError(f"a jailed test failed: {outcome}")
    finally:
        pool.close()
    return times


if __name__ == "__main__":
    main()
