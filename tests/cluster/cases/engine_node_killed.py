"""A node with an engine dies in mid-run: the run goes on with the other engine."""

from collections.abc import Callable
from typing import Any

from tests.cluster.cases.conftest import alerts, begin_on_two_nodes, groups, nodes_of, seconds_of_steps, until_succeeded
from tests.support.nodes import Nodes
from tests.worker.loop.conftest import Launcher
from tests.worker.loop.platform_double import PlatformDouble

STEPS, ALONE = 30, 6
"""Steps in all, and those that the run takes without the node at least."""


def test_a_run_goes_on_without_an_engines_node(
    nodes: Nodes, launcher: Launcher, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    lost = begin_on_two_nodes(nodes, launcher, spec(schedule__steps=STEPS))
    assert nodes_of("RolloutWorker", nodes) == ["a", "b"], "spread"
    nodes.kill(lost)
    until_succeeded(platform)
    died = next(event["seq"] for event in platform.of("alert") if "rollout worker" in event["data"]["title"])
    assert died < platform.of("step")[-ALONE]["seq"], "it died while the run was at work"
    assert platform.steps() == list(range(1, STEPS + 1)), "every step once"
    assert groups(platform) == {f"{step}-{index}": 4 for step in range(1, STEPS + 1) for index in range(4)}
    assert [event["data"]["metrics"]["reward/error_share"] for event in platform.of("step")] == [0.0] * STEPS
    by_chance = {"A reward worker was replaced", "A rollout worker waits for room"}
    assert set(alerts(platform)) - by_chance == {"A rollout worker was replaced"}
    assert not platform.gaps and not platform.repeated
    print("seconds of the steps:", seconds_of_steps(platform))
