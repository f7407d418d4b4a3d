"""What a step tells of several engines: the share of the one that did least."""

from collections import deque
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from trainer_core.planning.compute import Peaks
from worker.loop.reporting.performance import Performance
from worker.messages.jobs import EngineLoad
from worker.rollout.branches import BranchCost

IDLE = EngineLoad(
    at=0.0,
    busy_s=0.0,
    ticks=0,
    idle=True,
    running_tokens=0,
    running_sum=0.0,
    steps=0,
    generated_tokens=0,
    preemptions=0,
    budget_violations=0,
)


def told(before: list[int], now: list[int]) -> float | None:
    """The metric of a step in which engines have gone from so many tokens to so many; -1: it is not there."""
    generation: Any = SimpleNamespace(
        engines=SimpleNamespace(loads={}, regenerated=0),
        reward_s=0.0,
        generated_s=0.0,
        kv_usage=0.0,
        brancher=SimpleNamespace(cost=BranchCost()),
        pauses=deque(),
    )
    performance = Performance(generation, 1000, Peaks(1.0, 1.0))
    metrics: dict[str, float] = {}
    for at, totals in enumerate((before, now), start=1):
        loads = {index: replace(IDLE, at=float(at), generated_tokens=total) for index, total in enumerate(totals)}
        generation.engines.loads = {(index, 0): load for index, load in loads.items() if load.generated_tokens >= 0}
        metrics, _ = performance.step(1, 1, 1)
    return metrics.get("perf/engine_share_min")


@pytest.mark.parametrize(
    ("before", "now", "share"),
    [
        ([0, 0], [50, 50], 0.5),
        ([100, 500], [190, 510], 0.1),
        ([0, 0, 0], [30, 0, 30], 0.0),
        ([100, -1], [190, 10], None),
        ([7], [90], None),
        ([7, 9], [7, 9], None),
    ],
    ids=["alike", "one is slow", "one has nothing to do", "one is new", "one alone", "nothing was generated"],
)
def test_the_share_of_the_engine_that_generated_fewest(before: list[int], now: list[int], share: float | None) -> None:
    assert told(before, now) == (share if share is None else pytest.approx(share))
