"""A node that runs at a quarter of its speed: the run goes on, and gives its engine less to do."""

from collections.abc import Callable
from typing import Any

from tests.cluster.cases.conftest import (
    alerts,
    begin_on_two_nodes,
    groups,
    mean_of_steps,
    seconds_of_steps,
    until,
    until_succeeded,
)
from tests.support.nodes import Nodes
from tests.worker.loop.conftest import Launcher
from tests.worker.loop.platform_double import PlatformDouble

STEPS, BEFORE, SLOW = 90, 12, 20
"""Steps in all, those at full speed that are compared with, and those at a quarter of it."""


def test_a_run_goes_on_with_a_slow_node(
    nodes: Nodes, launcher: Launcher, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    document = spec(rollout__mode={"type": "async"}, schedule__steps=STEPS)
    slow = begin_on_two_nodes(nodes, launcher, document, steps=BEFORE + 1)
    before = len(platform.steps())
    with nodes.slowed(slow, 0.25):
        until(platform, lambda: len(platform.steps()) >= before + SLOW)
    after = len(platform.steps())
    until_succeeded(platform)
    assert alerts(platform) == [], "slow is not lost"
    assert platform.steps() == list(range(1, STEPS + 1))
    assert sum(groups(platform).values()) == STEPS * 4 * 4
    # Tokens tell: a group that both could take goes where fewer run, and those of the slow engine run for longer.
    usual = mean_of_steps(platform, "perf/engine_share_min", 2, before)
    slowed = mean_of_steps(platform, "perf/engine_share_min", before + 2, after)
    print(f"least share of an engine: {usual:.2f} at full speed, {slowed:.2f} with a slow node")
    assert slowed < usual, "the slow engine is given less"
    print(f"slow from step {before} to {after}; seconds of the steps:", seconds_of_steps(platform))
