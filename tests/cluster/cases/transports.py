"""Weights between nodes by ``torch.distributed`` and by files, and to a fresh engine after a node's death."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.cases.conftest import alerts, begin_on_two_nodes, groups, nodes_of, until, until_alert
from tests.support.nodes import Nodes
from tests.worker.loop.conftest import Launcher
from tests.worker.loop.platform_double import PlatformDouble

LOCATION = "DRESSAGE_WEIGHTS_LOCATION"
STEPS = 5000
"""More than it takes."""


@pytest.fixture(autouse=True)
def location(tmp_path: Path) -> Iterator[Path]:
    """Folder for weights, which every node sees; set before the cluster starts, as an operator does."""
    folder = tmp_path / "weights"
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(LOCATION, str(folder))
        yield folder


@pytest.mark.parametrize("transport", ["distributed", "files"])
def test_weights_reach_both_nodes_and_a_fresh_engine(
    location: Path, nodes: Nodes, launcher: Launcher, platform: PlatformDouble, spec: Callable[..., Any], transport: str
) -> None:
    document = spec(rollout__weight_transport=transport, schedule__steps=STEPS)
    lost = begin_on_two_nodes(nodes, launcher, document, steps=3)
    told = [event["data"]["message"] for event in platform.of("log")]
    assert any(f"weights are sent by {transport}: the run's spec names it" in line for line in told), told
    assert nodes_of("RolloutWorker", nodes) == ["a", "b"]
    assert bool(list(location.iterdir())) == (transport == "files")
    nodes.kill(lost)
    until_alert(platform, "A rollout worker was replaced")
    nodes.add(lost)
    until_alert(platform, "A rollout worker has joined")
    joined = platform.steps()[-1]
    assert nodes_of("RolloutWorker", nodes) == ["a", "b"]
    until(platform, lambda: platform.steps()[-1] >= joined + 6)
    platform.desired_state = "cancelled"
    until(platform, lambda: platform.states()[-1] == "cancelled")
    taken = platform.steps()
    assert taken == list(range(1, len(taken) + 1)), "every step once"
    assert {f"{step}-{index}": 4 for step in taken for index in range(4)}.items() <= groups(platform).items()
    by_chance = {"A reward worker was replaced", "A rollout worker waits for room"}
    assert set(alerts(platform)) - by_chance == {"A rollout worker was replaced", "A rollout worker has joined"}
    after = [event["data"]["metrics"] for event in platform.of("step") if event["step"] > joined]
    assert max(metrics["probe/max_abs_diff"] for metrics in after) < 1e-3, "the fresh engine computes with them"
    launcher.until_gone()
    assert list(location.iterdir()) == [], "nothing stays behind"
