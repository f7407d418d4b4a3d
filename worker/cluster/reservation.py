"""Room that a run reserves on the cluster before it starts: a slot for each engine and learner rank.

Learner ranks are packed on as few nodes as possible, or spread if there is room, as the spec says; engines are spread.
A run gets room for all ranks and the engines it needs to begin, or nothing, so two waiting runs never block each other.
Further engines have their own reservations, which Ray grants when a node has room, now or in mid-run. Ray also
re-reserves what was lost with a node.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import ray
from ray.util.placement_group import PlacementGroup, placement_group, placement_group_table, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from worker.cluster.actors import check_resources, grows_to
from worker.cluster.notify import Notify
from worker.errors import ClusterError

POLL_S = 1
"""Whole seconds between two polls: Ray drops fractions, and does not wait at all for 0."""
HOLD_S = 20.0
"""Seconds that a run holds partial room while it waits for the rest."""
TOLD_AFTER_S = 2.0
"""Seconds of waiting after which the user is notified."""


@dataclass(frozen=True, slots=True)
class Need:
    """Models of one kind that need room."""

    noun: str
    count: int
    cpus: float
    gpus: float = 0.0
    together: bool = False
    """Whether they are packed on as few nodes as possible, not spread."""
    devices: int = 1
    """Number of devices of each, all on one node."""

    @property
    def bundle(self) -> dict[str, float]:
        """Resources of one model, by Ray's names."""
        return {"CPU": self.cpus} | ({"GPU": self.gpus} if self.gpus else {})

    @property
    def sentence(self) -> str:
        """Description of all of them."""
        each = _amounts(self.bundle)
        return f"1 {self.noun} ({each})" if self.count == 1 else f"{self.count} {self.noun}s ({each} each)"


def shortage(nodes: Sequence[Mapping[str, float]], needs: Sequence[Need]) -> str | None:
    """Sentence about what nodes with these resources can never hold; None if all needs fit.

    This is best fit: each model, largest first, goes to the node that it leaves the least free.
    """
    left = [{"CPU": node.get("CPU", 0.0), "GPU": node.get("GPU", 0.0)} for node in nodes]
    ordered = sorted((need for need in needs if need.count), key=lambda need: (need.gpus, need.cpus), reverse=True)
    for need in ordered:
        for _ in range(need.count):
            rooms = [node for node in left if all(node[kind] + 1e-9 >= size for kind, size in need.bundle.items())]
            if not rooms:
                return f"There is no room for {_listed(needs)} on the cluster's nodes, which have {_nodes(nodes)}."
            tightest = min(rooms, key=lambda node: (node["GPU"], node["CPU"]))
            for kind, size in need.bundle.items():
                tightest[kind] -= size
    return None


def check_room(needs: Sequence[Need], went_before: bool) -> None:
    """Refuse a run that the cluster could never place.

    Args:
        needs: all models that the run needs to begin.
        went_before: an earlier attempt had room, so missing nodes may come back.

    Raises:
        ClusterError: the cluster's nodes are too few or too small, and no autoscaler adds others.
    """
    if went_before:
        return
    cpus = sum(need.count * need.cpus for need in needs)
    check_resources(cpus)
    if grows_to():
        return  # the sizes of further nodes are not known
    lacking = shortage([node["Resources"] for node in ray.nodes() if node["Alive"]], needs)
    if lacking is not None:
        raise ClusterError(f"{lacking} Lower parallelism, or add a larger node.")


class ReservedRoom:
    """Room of one attempt. It is released when the process that reserved it ends, or by ``close``."""

    def __init__(self, name: str, engines: Need, learners: Need, least: int, notify: Notify) -> None:
        """Reserve nothing yet.

        Args:
            name: prefix of the reservations' names.
            engines: the engines that the run wants.
            learners: the learner's ranks.
            least: number of engines that it needs to begin.
            notify: called if the run has to wait.
        """
        self._name, self._engines, self._learners, self._notify = name, engines, learners, notify
        self._least = least
        self._of_learners: PlacementGroup | None = None
        self._of_engines: PlacementGroup | None = None
        self._further: list[PlacementGroup] = []
        """Reservations of the engines beyond ``least``, one per engine."""

    def obtain(self, tick: Callable[[], None]) -> None:
        """Wait until there is room. ``tick`` is called in the meantime, and may raise to give up."""
        began = alone_since = time.monotonic()
        told = False
        needed = self._reserve_needed(self._learners.together)
        while not all(there := [group.wait(POLL_S) for group in needed]):
            tick()
            now = time.monotonic()
            if not told and now - began > TOLD_AFTER_S:
                self._tell_waiting()
                told = True
            if not any(there):
                alone_since = now
            elif now - alone_since > HOLD_S:
                self.close()
                time.sleep(random.uniform(0.1, 2.0))  # so that two waiting runs do not keep colliding
                # Packed ranks may leave room for engines when spread ranks do not.
                needed, alone_since = self._reserve_needed(together=True), time.monotonic()
        if told:
            self._notify("The run has room", f"The cluster had room for it after {time.monotonic() - began:.0f} s.")
        one = [self._engines.bundle]
        further = range(self._least, self._engines.count)
        self._further = [placement_group(one, "PACK", f"{self._name}/engine-{index}") for index in further]

    def engine(self, index: int) -> dict[str, Any]:
        """Options of the actor of an engine; it starts when there is room."""
        if index >= self._least:
            return _within(self._further[index - self._least], 0)
        assert self._of_engines is not None
        return _within(self._of_engines, index)

    def engine_node(self, index: int) -> str | None:
        """Id of the node that has room for an engine; None if no node has. Thread-safe."""
        further = index - self._least
        try:
            group, bundle = (self._of_engines, index) if further < 0 else (self._further[further], 0)
        except IndexError:
            return None  # released
        if group is None:
            return None
        node = placement_group_table().get(group.id.hex(), {}).get("bundles_to_node_id", {}).get(bundle)
        return node if any(found["NodeID"] == node and found["Alive"] for found in ray.nodes()) else None

    def learner(self, rank: int) -> dict[str, Any]:
        """Options of the actor of a learner rank."""
        assert self._of_learners is not None
        return _within(self._of_learners, rank)

    def gpus_held(self) -> float:
        """GPUs of the reservations that are currently placed. Thread-safe."""
        each = [(self._of_learners, self._learners.gpus), (self._of_engines, self._engines.gpus)]
        each += [(group, self._engines.gpus) for group in self._further]
        if not any(gpus for _, gpus in each):
            return 0.0
        alive, tables = {node["NodeID"] for node in ray.nodes() if node["Alive"]}, placement_group_table()
        held = 0.0
        for group, gpus in each:
            table = {} if group is None else tables.get(group.id.hex(), {})
            if table and table["state"] != "REMOVED":
                held += gpus * sum(node in alive for node in table["bundles_to_node_id"].values())
        return held

    def close(self) -> None:
        """Release all room. Ray ends anything that still runs there."""
        for group in (self._of_learners, self._of_engines, *self._further):
            if group is not None:
                remove_placement_group(group)
        self._of_learners = self._of_engines = None
        self._further = []

    def _reserve_needed(self, together: bool) -> list[PlacementGroup]:
        learners, engines = self._learners, self._engines
        strategy = "PACK" if together else "SPREAD"

        def of_engines() -> PlacementGroup | None:
            if not self._least:
                return None  # a run that samples nothing
            return placement_group([engines.bundle] * self._least, "SPREAD", f"{self._name}/engines")

        # Ray serves reservations in order: a rank must not take part of the only node that can hold a wide engine.
        if engines.devices > 1:
            self._of_engines = of_engines()
        self._of_learners = placement_group([learners.bundle] * learners.count, strategy, f"{self._name}/learners")
        if engines.devices == 1:
            self._of_engines = of_engines()
        return [group for group in (self._of_learners, self._of_engines) if group is not None]

    def _tell_waiting(self) -> None:
        free = ray.available_resources()
        begin_with = replace(self._engines, count=self._least)
        self._notify(
            "The run waits for room on the cluster",
            f"It needs room for {_listed([begin_with, self._learners])}; {_amounts(free)} are free on"
            f" {_count(sum(node['Alive'] for node in ray.nodes()), 'node')}. It starts when others end or a node"
            " joins.",
        )


def _within(group: PlacementGroup, index: int) -> dict[str, Any]:
    return {"scheduling_strategy": PlacementGroupSchedulingStrategy(group, placement_group_bundle_index=index)}


def _listed(needs: Sequence[Need]) -> str:
    return " and ".join(need.sentence for need in needs if need.count)


def _nodes(nodes: Sequence[Mapping[str, float]]) -> str:
    counted = Counter(_amounts(node) for node in nodes)
    return "; ".join(amounts if count == 1 else f"{count} times {amounts}" for amounts, count in counted.items())


def _amounts(resources: Mapping[str, float]) -> str:
    gpus = resources.get("GPU", 0.0)
    cpus = _count(resources.get("CPU", 0.0), "CPU")
    return f"{cpus} and {_count(gpus, 'GPU')}" if gpus else cpus


def _count(number: float, noun: str) -> str:
    return f"{number:g} {noun}" if number == 1 else f"{number:g} {noun}s"
