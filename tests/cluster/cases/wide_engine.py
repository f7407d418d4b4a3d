"""An engine of two devices: nodes that have one each never hold it, and one that has both does."""

from collections.abc import Callable
from typing import Any

from tests.cluster.cases.conftest import nodes_of, until, until_succeeded
from tests.support.nodes import Nodes
from tests.worker.loop.conftest import Launcher
from tests.worker.loop.platform_double import PlatformDouble
from trainer_core.planning.reservation import Reservation
from trainer_core.spec import RunSpec


def test_an_engine_of_two_devices_lies_on_one_node(
    nodes: Nodes, launcher: Launcher, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    for name in "ab":
        nodes.add(name, cpus=1)
    nodes.until_alive(2)
    document = spec(
        rollout__engine__tensor_parallel_size=2,
        schedule__steps=3,
        schedule__prompts_per_step=4,
        evaluation__sources=[],
    )
    launcher.prepare(document)
    launcher.start()
    platform.wait(lambda: platform.states()[-1:] == ["failed"])
    assert platform.of("state")[-1]["data"]["reason"] == (
        "One engine needs 2 CPUs on one node (rollout.engine.tensor_parallel_size times pipeline_parallel_size); the "
        "largest node of the cluster has 1."
    )
    launcher.until_gone()

    nodes.add("c", cpus=2)
    nodes.until_alive(3)
    platform.events.clear()
    launcher.prepare(document, attempt=2)
    launcher.start()
    until(platform, lambda: bool(platform.steps()))
    assert nodes_of("RolloutWorker", nodes) == ["c"]
    from ray.util import placement_group_table  # Ray reads its token when it is imported

    held = {entry["name"]: entry["bundles"] for entry in placement_group_table().values()}
    parsed = RunSpec.model_validate(document)
    engines, ranks = Reservation.of(parsed.parallelism, parsed.rollout.engine).shapes(0.0)
    assert held[f"run-{launcher.run_id}-2/engines"] == {0: {"CPU": engines.cpus}} == {0: {"CPU": 2.0}}
    assert held[f"run-{launcher.run_id}-2/learners"] == {0: {"CPU": ranks.cpus}}, "as the autoscaler is asked"
    until_succeeded(platform)
    metrics = [event["data"]["metrics"] for event in platform.of("step")]
    assert [0.0 < found["probe/weights_read_share"] < 1.0 for found in metrics] == [True] * 3
