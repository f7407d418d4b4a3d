"""A node with an engine dies in mid-run: the run goes on with the other engine, and widens when the node is back."""

from collections.abc import Callable
from typing import Any

from tests.cluster.cases.conftest import alerts, groups, nodes_of, seconds_of_steps, until, until_alert, until_succeeded
from tests.support.nodes import Nodes
from tests.worker.loop.conftest import Launcher
from tests.worker.loop.platform_double import PlatformDouble

ALONE, STEPS = 6, 36
"""Steps that the run takes after the node was killed, and in all."""


def test_a_run_goes_on_without_an_engines_node_and_widens_when_it_is_back(
    nodes: Nodes, launcher: Launcher, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    for name in ("a", "b"):
        nodes.add(name)
    nodes.until_alive(2)
    launcher.prepare(
        spec(
            parallelism__rollout_workers=2,
            schedule__steps=STEPS,
            schedule__prompts_per_step=4,
            checkpoint__every_steps=100,
            evaluation__sources=[],
        )
    )
    launcher.start()
    until(platform, lambda: bool(platform.steps()))
    assert nodes_of("RolloutWorker", nodes) == ["a", "b"], "spread"
    (learner,) = nodes_of("LearnerWorker", nodes)
    lost = "a" if learner == "b" else "b"
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
    assert [event["data"]["metrics"]["reward/error_share"] for event in platform.of("step")] == [0.0] * STEPS
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
