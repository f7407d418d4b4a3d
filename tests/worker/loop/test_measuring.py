"""Size and demand of a real Ray cluster, and the refusals of one that cannot be joined."""

import json
import socket
from types import SimpleNamespace
from typing import Any

import pytest
import ray
from ray._private import ray_constants
from ray._raylet import GcsClient  # type: ignore[attr-defined]  # the stub lacks it
from ray.autoscaler.v2.sdk import get_cluster_status
from ray.core.generated import autoscaler_pb2

from tests.worker.conftest import CPUS
from tests.worker.loop.platform_double import CLUSTER_SECRET
from trainer_core.link.cluster import ClusterReport, GpuKind, ResourceBundle, report_path
from worker import tasks
from worker.cluster import measuring, reach
from worker.errors import ClusterError

DEMAND = [ResourceBundle(cpus=1.0, gpus=1.0, count=4), ResourceBundle(cpus=0.5, gpus=0.0, count=2)]


@pytest.fixture
def address(cluster: None) -> str:
    """Where the tests' Ray is."""
    return str(ray.get_runtime_context().gcs_address)


def wanted(address: str) -> tuple[dict[tuple[float, float], int], list[dict[str, float]]]:
    """What the newer and the older autoscaler see of the demand."""
    found: dict[tuple[float, float], int] = {}
    for constraint in get_cluster_status(address).resource_demands.cluster_constraint_demand:
        for by_count in constraint.bundles_by_count:
            found[by_count.bundle.get("CPU", 0.0), by_count.bundle.get("GPU", 0.0)] = by_count.count
    key = GcsClient(address=address).internal_kv_get(ray_constants.AUTOSCALER_RESOURCE_REQUEST_CHANNEL, None)
    return found, json.loads(key)


def test_the_autoscaler_sees_the_demand_and_later_none(address: str) -> None:
    measuring.publish_demand(address, DEMAND)
    shapes = [{"CPU": 1.0, "GPU": 1.0}] * 4 + [{"CPU": 0.5}] * 2
    assert wanted(address) == ({(1.0, 1.0): 4, (0.5, 0.0): 2}, shapes)
    measuring.publish_demand(address, [])
    assert wanted(address) == ({}, [])


def test_the_size_of_a_cluster_is_told(address: str) -> None:
    report = measuring.report(address)
    assert (report.nodes, report.cpus, report.gpus, report.fault) == (1, float(CPUS), (), None)
    assert report.ray_version == ray.__version__
    assert 0 <= report.cpus_free <= CPUS and report.memory_bytes > 0
    assert reach.main(address) == 0


def node(resources: dict[str, float], alive: bool = True) -> Any:
    """A node's state; ``GPU_free`` and the like are what nobody has reserved."""
    total = {name: value for name, value in resources.items() if not name.endswith("_free")}
    free = {name: resources.get(f"{name}_free", value) for name, value in total.items()}
    status = autoscaler_pb2.NodeStatus.RUNNING if alive else autoscaler_pb2.NodeStatus.DEAD
    return SimpleNamespace(status=status, total_resources=total, available_resources=free)


def test_gpus_are_counted_by_kind_and_dead_nodes_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "built_for_gpus", lambda: True)
    states = [
        node({"CPU": 0, "memory": 8}),
        node({"CPU": 16, "CPU_free": 2, "GPU": 8, "GPU_free": 3, "memory": 64, "accelerator_type:H100": 1}),
        node({"CPU": 16, "GPU": 8, "memory": 64, "accelerator_type:H100": 1}),
        node({"CPU": 4, "GPU": 1, "memory": 4}),
        node({"CPU": 99, "GPU": 99}, alive=False),
    ]
    report = measuring.sized(states)
    assert (report.nodes, report.cpus, report.cpus_free, report.memory_bytes) == (4, 36.0, 22.0, 140.0)
    assert report.gpus == (GpuKind(kind="GPU", total=1, free=1), GpuKind(kind="H100", total=16, free=11))
    monkeypatch.setattr(measuring, "built_for_gpus", lambda: False)
    assert measuring.sized(states).gpus == (), "this installation cannot use them"


@pytest.mark.parametrize(
    ("address", "words"),
    [
        (None, "RAY_ADDRESS is not set"),
        ("ray://10.0.0.1:10001", "is a Ray client address: give the GCS itself"),
        ("somewhere", "'somewhere' is not the address of a Ray cluster"),
    ],
)
def test_an_address_that_makes_no_sense_is_refused_in_words(address: str | None, words: str) -> None:
    with pytest.raises(ClusterError, match=words):
        measuring.gcs_address(address)


def test_a_cluster_that_is_away_is_refused_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]  # nobody listens
        assert reach.main(f"127.0.0.1:{port}") == 1
    told = capsys.readouterr().out
    assert (
        told.startswith(f"The Ray cluster at 127.0.0.1:{port} cannot be reached: ")
        and "Check that its head is running" in told
    )


def test_a_cluster_with_another_ray_is_refused_in_words(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    metadata = measuring.usage_lib.get_cluster_metadata(GcsClient(address=address))
    told = {**metadata, "ray_version": "2.9.3"}
    monkeypatch.setattr(measuring.usage_lib, "get_cluster_metadata", lambda _: told)
    with pytest.raises(ClusterError, match=rf"has Ray 2\.9\.3, and this installation {ray.__version__}: they must be"):
        measuring.open_gcs(address)


def test_the_task_tells_the_platform_and_the_autoscaler(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, ClusterReport]] = []
    monkeypatch.setattr(tasks, "tell_size", lambda link_url, name, report: told.append((name, report)))
    monkeypatch.setenv("RAY_ADDRESS", address)
    assert tasks.measure("far", "http://127.0.0.1:1", [bundle.model_dump() for bundle in DEMAND]) is True
    assert wanted(address)[0] == {(1.0, 1.0): 4, (0.5, 0.0): 2}
    monkeypatch.delenv("RAY_ADDRESS")
    assert tasks.measure("far", "http://127.0.0.1:1") is True
    assert [(name, report.cpus, report.fault) for name, report in told] == [
        ("far", float(CPUS), None),
        ("far", 0.0, "RAY_ADDRESS is not set: there is no cluster to run on."),
    ]
    monkeypatch.undo()
    monkeypatch.setenv("DRESSAGE_CLUSTER_SECRET", CLUSTER_SECRET)
    assert tasks.measure("far", "http://127.0.0.1:1") is False, "the platform is away"
    measuring.publish_demand(address, [])
    assert report_path("far") == "/api/v1/link/clusters/far/report"
