"""Room for a run: what can never fit is refused in words, and what must wait says for what."""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import ray
from ray.util.placement_group import placement_group, remove_placement_group

from tests.support.about import TRAINING
from tests.support.installation import wait_until
from worker.cluster import actors, reservation
from worker.cluster.network import node_answers
from worker.cluster.placement import Placement, go_on_with
from worker.cluster.reservation import Need, ReservedRoom, check_room, shortage
from worker.errors import ClusterError

ENGINES, RANKS = Need("engine", 2, 1.0, 1.0), Need("learner rank", 2, 0.5, 1.0, together=True)
TWO_GPUS = {"CPU": 2.0, "GPU": 2.0}


@pytest.mark.parametrize(
    ("nodes", "fits"),
    [
        ([TWO_GPUS, TWO_GPUS], True),
        ([{"CPU": 3.0, "GPU": 4.0}], True),
        ([{"CPU": 2.5, "GPU": 4.0}], False),
        (
            [{"CPU": 1.0, "GPU": 1.0}, {"CPU": 1.0, "GPU": 1.0}, {"CPU": 0.5, "GPU": 1.0}, {"CPU": 0.5, "GPU": 1.0}],
            True,
        ),
        ([{"CPU": 0.5, "GPU": 1.0}] * 8, False),
        ([TWO_GPUS, {"CPU": 64.0}], False),
        ([], False),
    ],
)
def test_models_fit_on_nodes_and_not_on_their_sum(nodes: list[dict[str, float]], fits: bool) -> None:
    assert (shortage(nodes, [ENGINES, RANKS]) is None) == fits


def test_a_shortage_says_what_is_asked_and_what_is_there() -> None:
    nodes = [{"CPU": 0.5, "GPU": 1.0}, {"CPU": 0.5, "GPU": 1.0}, {"CPU": 64.0}]
    assert shortage(nodes, [ENGINES, RANKS, Need("judge", 0, 1.0)]) == (
        "There is no room for 2 engines (1 CPU and 1 GPU each) and 2 learner ranks (0.5 CPUs and 1 GPU each) on the "
        "cluster's nodes, which have 2 times 0.5 CPUs and 1 GPU; 64 CPUs."
    )


def nodes_of(monkeypatch: pytest.MonkeyPatch, *resources: Mapping[str, float]) -> None:
    monkeypatch.setattr(ray, "nodes", lambda: [{"Alive": True, "Resources": node} for node in resources])
    totals = {kind: sum(node.get(kind, 0.0) for node in resources) for kind in ("CPU", "GPU")}
    monkeypatch.setattr(ray, "cluster_resources", lambda: totals)


def test_what_the_cluster_can_never_hold_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes_of(monkeypatch, {"CPU": 0.5}, {"CPU": 8.0})
    check_room([Need("engine", 4, 2.0)], went_before=False)
    with pytest.raises(
        ClusterError, match=r"no room for 1 engine \(8.5 CPUs\) .*, which have 0.5 CPUs; 8 CPUs\. Lower parallelism"
    ):
        check_room([Need("engine", 1, 8.5)], went_before=False)
    with pytest.raises(ClusterError, match=r"The run needs 9 CPUs .*; the cluster has 8.5"):
        check_room([Need("engine", 9, 1.0)], went_before=False)
    check_room([Need("engine", 9, 1.0)], went_before=True)


def test_a_cluster_that_grows_is_asked_up_to_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes_of(monkeypatch, {})
    monkeypatch.setenv("CLUSTER_GROWS_TO", "CPU=8, GPU=4")
    check_room([ENGINES, RANKS], went_before=False)
    assert (actors.resources("GPU"), actors.resources("CPU")) == (4.0, 8.0)
    with pytest.raises(ClusterError, match=r"needs 9 CPUs .*; the cluster has 8"):
        check_room([Need("engine", 9, 1.0)], went_before=False)
    monkeypatch.setenv("CLUSTER_GROWS_TO", "8 GPUs")
    with pytest.raises(ClusterError, match=r"CLUSTER_GROWS_TO='8 GPUs' cannot be read. Write it as CPU=64,GPU=8"):
        check_room([], went_before=False)


def test_a_run_never_goes_on_with_less_than_it_had(tmp_path: Path) -> None:
    kept, whole, half = tmp_path / "run" / "placement.json", Placement("cuda", 1.0), Placement("cuda", 0.5)
    assert go_on_with(half, kept) == half
    assert go_on_with(Placement(), kept) == half, "a node is missing"
    assert go_on_with(whole, kept) == whole, "nodes were added"
    assert go_on_with(half, kept) == whole


@pytest.mark.expensive(4, "starts processes", about=TRAINING)
def test_a_run_waits_in_words_for_room_and_gives_it_back(cluster: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reservation, "TOLD_AFTER_S", 0.0)
    monkeypatch.setattr(reservation, "HOLD_S", 0.5)
    free = ray.available_resources()["CPU"]
    other = placement_group([{"CPU": free - 1.0}])
    assert other.wait(30)
    told: list[tuple[str, str]] = []
    looks: list[set[tuple[str, str]]] = []

    def tick() -> None:
        looks.append({(entry["name"], entry["state"]) for entry in ray.util.placement_group_table().values()})
        if {("reservation-test/learners", state) for state in ("REMOVED", "CREATED")} <= looks[-1]:
            remove_placement_group(other)  # what was held for ranks alone has been given back once

    def notify(title: str, message: str) -> None:
        told.append((title, message))

    engines, learners = Need("engine", 2, 0.75), Need("learner rank", 1, 0.5)
    room = ReservedRoom("reservation-test", engines, learners, 1, notify)
    room.obtain(tick)
    assert [title for title, _ in told] == ["The run waits for room on the cluster", "The run has room"]
    assert len(looks) < 10, "one a second"
    assert told[0][1].startswith("It needs room for 1 engine (0.75 CPUs) and 1 learner rank (0.5 CPUs); ")
    named = {entry["name"] for entry in ray.util.placement_group_table().values() if entry["state"] != "REMOVED"}
    assert {f"reservation-test/{part}" for part in ("learners", "engines", "engine-1")} <= named

    @ray.remote(num_cpus=0.75)
    class Engine:
        def ready(self) -> bool:
            return True

    made: list[Any] = [Engine.options(**room.engine(index)).remote() for index in range(2)]  # type: ignore[attr-defined]
    assert ray.get([engine.ready.remote() for engine in made], timeout=60) == [True, True]
    (node,) = (node["NodeID"] for node in ray.nodes())
    assert [room.engine_node(index) for index in range(2)] == [node, node]
    assert node_answers(node) and not node_answers("f" * 56)
    room.close()
    wait_until(lambda: ray.available_resources()["CPU"] == free, 30, lambda: str(ray.available_resources()))


@pytest.mark.parametrize(("devices", "order"), [(1, ["learners", "engines"]), (2, ["engines", "learners"])])
def test_engines_that_need_a_whole_node_reserve_it_before_ranks_do(
    monkeypatch: pytest.MonkeyPatch, devices: int, order: list[str]
) -> None:
    class Granted:
        def wait(self, seconds: float) -> bool:
            return True

    asked: list[str] = []

    def reserve(bundles: list[dict[str, float]], strategy: str, name: str) -> Granted:
        asked.append(name.removeprefix("run/"))
        return Granted()

    monkeypatch.setattr(reservation, "placement_group", reserve)
    engines = Need("engine", 1, 1.0 * devices, devices=devices)
    ReservedRoom("run", engines, Need("learner rank", 1, 0.5), 1, lambda *_: None).obtain(lambda: None)
    assert asked == order


def test_only_what_stands_on_a_live_node_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that begins with one engine of three; a second has room; then the node of both is lost."""

    class Group(SimpleNamespace):
        def wait(self, seconds: float) -> bool:
            return True

    tables: dict[str, dict[str, Any]] = {}
    alive = {"a": True, "b": True}

    def reserve(bundles: list[dict[str, float]], strategy: str, name: str) -> Group:
        node = {"run/learners": "b", "run/engines": "a", "run/engine-1": "a"}.get(name, "")
        places = dict.fromkeys(range(len(bundles)), node)
        tables[name] = {"state": "CREATED" if node else "PENDING", "bundles_to_node_id": places}
        return Group(id=SimpleNamespace(hex=lambda: name))

    monkeypatch.setattr(reservation, "placement_group", reserve)
    monkeypatch.setattr(reservation, "placement_group_table", lambda: tables)
    monkeypatch.setattr(reservation, "remove_placement_group", lambda group: tables.pop(group.id.hex()))
    monkeypatch.setattr(ray, "nodes", lambda: [{"NodeID": name, "Alive": there} for name, there in alive.items()])
    wide = Need("engine", 3, 2.0, 2.0, devices=2)
    room = ReservedRoom("run", wide, Need("learner rank", 2, 0.5, 1.0), 1, lambda *_: None)
    assert room.gpus_held() == 0.0
    assert [room.engine_node(index) for index in range(3)] == [None] * 3
    room.obtain(lambda: None)
    assert room.gpus_held() == 2 * 1 + 1 * 2 + 1 * 2
    assert [room.engine_node(index) for index in range(3)] == ["a", "a", None]
    alive["a"] = False
    assert room.gpus_held() == 2.0
    assert [room.engine_node(index) for index in range(3)] == [None] * 3
    room.close()
    assert room.gpus_held() == 0.0
    assert [room.engine_node(index) for index in range(3)] == [None] * 3
