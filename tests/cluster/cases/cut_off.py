"""A node that is cut off in mid-run: the run goes on without its engine, though nothing there has ended."""

from collections.abc import Callable
from typing import Any

from tests.cluster.cases.conftest import alerts, begin_on_two_nodes, groups, seconds_of_steps, until, until_succeeded
from tests.support.nodes import Nodes
from tests.worker.loop.conftest import Launcher
from tests.worker.loop.platform_double import PlatformDouble

STEPS = 60


def test_a_run_goes_on_without_a_node_that_is_cut_off(
    nodes: Nodes, launcher: Launcher, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    lost = begin_on_two_nodes(nodes, launcher, spec(schedule__steps=STEPS), steps=2)
    nodes.cut(lost)
    until_succeeded(platform)
    assert "A rollout worker was replaced" in alerts(platform)
    assert platform.steps() == list(range(1, STEPS + 1))
    assert groups(platform) == {f"{step}-{index}": 4 for step in range(1, STEPS + 1) for index in range(4)}
    print("seconds of the steps:", seconds_of_steps(platform))


def test_a_node_that_is_cut_off_for_a_moment_is_not_lost(
    nodes: Nodes, launcher: Launcher, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    lost = begin_on_two_nodes(nodes, launcher, spec(schedule__steps=STEPS), steps=2)
    nodes.cut(lost)
    seen = platform.syncs
    until(platform, lambda: platform.syncs >= seen + 3)
    nodes.mend(lost)
    until_succeeded(platform)
    assert alerts(platform) == []
    assert platform.steps() == list(range(1, STEPS + 1))
    assert groups(platform) == {f"{step}-{index}": 4 for step in range(1, STEPS + 1) for index in range(4)}
    print("seconds of the steps:", seconds_of_steps(platform))
