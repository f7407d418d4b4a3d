"""A node that runs at a quarter of its speed: the run goes on, and gives its engine less to do."""

from collections.abc import Callable
from typing import Any

from tests.cluster.cases.conftest import alerts, begin_on_two_nodes, groups, seconds_of_steps, until, until_succeeded
from tests.support.nodes import Nodes
from tests.worker.loop.conftest import Launcher
from tests.worker.loop.platform_double import PlatformDouble

STEPS = 60


def test_a_run_goes_on_with_a_slow_node(
    nodes: Nodes, launcher: Launcher, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    document = spec(rollout__mode={"type": "async"}, schedule__steps=STEPS)
    slow = begin_on_two_nodes(nodes, launcher, document, steps=6)
    before = len(platform.steps())
    with nodes.slowed(slow, 0.25):
        until(platform, lambda: len(platform.steps()) >= before + 6)
    after = len(platform.steps())
    until_succeeded(platform)
    assert alerts(platform) == [], "slow is not lost"
    assert platform.steps() == list(range(1, STEPS + 1))
    assert sum(groups(platform).values()) == STEPS * 4 * 4
    print(f"slow from step {before} to {after}; seconds of the steps:", seconds_of_steps(platform))
