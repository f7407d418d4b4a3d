"""A run that begins with one engine of two: a node that is added in mid-run widens its rollouts."""

from collections.abc import Callable
from typing import Any

from tests.cluster.cases.conftest import alerts, groups, nodes_of, seconds_of_steps, until, until_alert
from tests.support.nodes import Nodes
from tests.worker.loop.conftest import Launcher
from tests.worker.loop.platform_double import PlatformDouble

STEPS = 5000
"""More than it takes."""


def test_a_node_that_is_added_widens_rollouts(
    nodes: Nodes, launcher: Launcher, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    nodes.add("a")
    nodes.until_alive(1)
    launcher.prepare(
        spec(
            parallelism__rollout_workers=2,
            parallelism__least_rollout_workers=1,
            schedule__steps=STEPS,
            schedule__prompts_per_step=4,
            checkpoint__every_steps=100,
            evaluation__sources=[],
        )
    )
    launcher.start()
    until(platform, lambda: len(platform.steps()) >= 2)
    assert nodes_of("RolloutWorker", nodes) == ["a"]
    nodes.add("b")
    until_alert(platform, "A rollout worker has joined")
    joined = platform.steps()[-1]
    assert nodes_of("RolloutWorker", nodes) == ["a", "b"]
    until(platform, lambda: platform.steps()[-1] >= joined + 20)
    platform.desired_state = "cancelled"
    until(platform, lambda: platform.states()[-1] == "cancelled")
    assert alerts(platform) == ["A rollout worker has joined"]
    taken = platform.steps()
    assert taken == list(range(1, len(taken) + 1))
    assert groups(platform) == {f"{step}-{index}": 4 for step in taken for index in range(4)}
    print(f"joined after step {joined}; seconds of the steps:", seconds_of_steps(platform)[joined - 10 : joined + 20])
