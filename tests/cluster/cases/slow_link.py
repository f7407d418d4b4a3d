"""A node whose link is slow, while its processes run at their speed: the run goes on, and does not take it for lost."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.cluster.cases.conftest import (
    alerts,
    begin_on_two_nodes,
    groups,
    mean_of_steps,
    seconds_of_steps,
    until,
    until_succeeded,
)
from tests.support.node_networks import discipline_refusal
from tests.support.nodes import Nodes
from tests.worker.loop.conftest import Launcher
from tests.worker.loop.platform_double import PlatformDouble

STEPS, BEFORE, SLOW = 60, 8, 10
"""Steps in all, those at full speed that are compared with, and those over the slow link."""
LINKS = {
    "narrow": "tbf rate 16mbit burst 64kb latency 2s",
    "far": "netem delay 60ms 10ms rate 50mbit limit 100000",
    "bad": "netem delay 20ms loss 1% rate 50mbit limit 100000",
}
"""What the link sends by, both ways: "narrow" needs no more than a kernel without netem has."""


@pytest.mark.parametrize("link", LINKS)
def test_a_run_goes_on_over_a_slow_link(
    nodes: Nodes, launcher: Launcher, platform: PlatformDouble, spec: Callable[..., Any], link: str
) -> None:
    if (reason := discipline_refusal(LINKS[link])) is not None:
        pytest.skip(reason)
    document = spec(rollout__mode={"type": "async"}, schedule__steps=STEPS)
    slow = begin_on_two_nodes(nodes, launcher, document, steps=BEFORE + 1)
    before = len(platform.steps())
    with nodes.shaped(slow, LINKS[link]):
        until(platform, lambda: len(platform.steps()) >= before + SLOW)
    after = len(platform.steps())
    until_succeeded(platform)
    assert alerts(platform) == [], "slow is not lost"
    assert platform.steps() == list(range(1, STEPS + 1))
    assert sum(groups(platform).values()) == STEPS * 4 * 4
    told = {
        metric: [mean_of_steps(platform, metric, *part) for part in ((2, before), (before + 2, after))]
        for metric in ("perf/engine_share_min", "timing_s/sync", "timing_s/step")
    }
    print(f"{link}, before and over the slow link:", told)
    print(f"slow from step {before} to {after}; seconds of the steps:", seconds_of_steps(platform))
