"""A node with an engine dies in mid-run and is brought back: the run widens again."""

from collections.abc import Callable
from typing import Any

from tests.cluster.cases.conftest import (
    alerts,
    begin_on_two_nodes,
    groups,
    nodes_of,
    seconds_of_steps,
    until,
    until_alert,
    until_succeeded,
)
from tests.support.nodes import Nodes
from tests.worker.loop.conftest import Launcher
from tests.worker.loop.platform_double import PlatformDouble

STEPS, ALONE = 36, 6
"""Steps in all, and those that the run takes after the node was killed."""


def test_a_run_widens_when_the_node_is_back(
    nodes: Nodes, launcher: Launcher, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    lost = begin_on_two_nodes(nodes, launcher, spec(schedule__steps=STEPS))
    nodes.kill(lost)
    last = len(platform.steps()) + ALONE
    platform.stop_after[last] = "paused"
    until_alert(platform, "A rollout worker waits for room")
    until(platform, lambda: platform.states()[-1] == "paused")
    assert last <= len(platform.steps()) < STEPS, "without it"

    nodes.add(lost)
    until_alert(platform, "A rollout worker has joined")
    assert nodes_of("RolloutWorker", nodes) == ["a", "b"]
    platform.stop_after.clear()
    platform.desired_state = "running"
    until_succeeded(platform)
    assert platform.steps() == list(range(1, STEPS + 1)), "every step once"
    assert groups(platform) == {f"{step}-{index}": 4 for step in range(1, STEPS + 1) for index in range(4)}
    by_chance = {"A reward worker was replaced"}
    assert set(alerts(platform)) - by_chance == {
        "A rollout worker was replaced",
        "A rollout worker waits for room",
        "A rollout worker has joined",
    }
    died = next(event["seq"] for event in platform.of("alert"))
    assert died < platform.of("step")[last - 1]["seq"], "it died while the run was at work"
    assert not platform.gaps and not platform.repeated
    print("seconds of the steps:", seconds_of_steps(platform))
