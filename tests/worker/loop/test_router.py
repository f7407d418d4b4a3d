"""The router on real engines: groups are spread and stay whole, hung workers are replaced, failing ones are drained."""

import math
import os
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import ray
import torch
from safetensors.torch import load_file

from tests.support.about import RUNS, TRAINING
from tests.support.installation import wait_until
from tests.worker.loop.conftest import POLICY
from tests.worker.loop.processes import ray_processes
from worker.cluster import actors as ray_cluster
from worker.engine import EngineConfig, Sampling
from worker.errors import WeightsRefused
from worker.learner.probe.evidence import Evidence, Sampler
from worker.learner.transport.object_store import ObjectStore
from worker.learner.weights import WeightBundle, WeightHandle
from worker.messages.jobs import Collected, GroupJob
from worker.rollout import health as watch
from worker.rollout.router import Router
from worker.rollout.worker import rollout_actor_class

TORN = "model.layers.1.mlp.down_proj.weight"

pytestmark = pytest.mark.live
SECONDS = 16.0
"""Processor seconds that the start of an engine's process costs."""


class Delivered:
    """Keeps what a router hands over."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.groups: list[tuple[int, str, list[int]]] = []
        self.failed = threading.Event()

    def __call__(self, worker: int, collected: Collected) -> None:
        with self.changed:
            for place, name in enumerate(collected.names):
                rows = [r for r, index in enumerate(collected.chunk.groups) if index == place]
                lengths = [collected.chunk.lengths[row] for row in rows]
                self.groups.append((worker, name, lengths))
            self.changed.notify_all()

    def until(self, count: int) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.groups) >= count, 90), self.groups

    @property
    def names(self) -> list[str]:
        return sorted(name for _, name, _ in self.groups)


def jobs(count: int, max_tokens: int = 8) -> list[GroupJob]:
    prompt = np.array([5, 16, 7, 19], np.int32)
    return [GroupJob(f"g{index}", prompt, 2, Sampling(1.0, max_tokens=max_tokens)) for index in range(count)]


@pytest.fixture
def told() -> list[str]:
    """What routers have told of their engines."""
    return []


Build = Callable[[int, float], Router]


@pytest.fixture
def build(cluster: None, told: list[str]) -> Iterator[Build]:
    """Routers by their number of engines and the CPUs of each; closed after the test, whether it passes or not."""
    routers: list[Router] = []

    def spawn(index: int, generation: int, cpus: float) -> Any:
        options = ray_cluster.actor_options(f"router-test/{index}.{generation}", cpus)
        return rollout_actor_class().options(**options).remote()

    def make(size: int, cpus: float) -> Router:
        wait_until(lambda: not ray_processes("RolloutWorker"), 30)  # those that an earlier test has closed
        config = EngineConfig(str(POLICY), max_model_len=64, max_num_seqs=64, kv_cache_gib=0.05)
        node = ray.get_runtime_context().get_node_id()
        router = Router(
            partial(spawn, cpus=cpus),
            size,
            config,
            0.05,
            4,
            lambda title, message: told.append(message),
            node_of=lambda index: node,
        )
        routers.append(router)
        ray.get(router.started)
        return router

    with pytest.MonkeyPatch.context() as patch:
        # On a busy machine a process may take longer to start than one that has room for it usually does.
        patch.setattr("worker.rollout.router.ROOM_S", math.inf)
        yield make
        for router in routers:
            router.close()


@pytest.fixture
def pair(build: Build) -> tuple[Router, Delivered]:
    router, delivered = build(2, 1.0), Delivered()
    router.serve(delivered, delivered.failed.set)
    return router, delivered


@pytest.mark.expensive(3 * SECONDS, "starts three engines", about=RUNS)
def test_groups_are_spread_parked_continued_and_survive_a_drained_worker(
    pair: tuple[Router, Delivered], told: list[str]
) -> None:
    router, delivered = pair
    router.submit(jobs(6), seed=1, alone=True)
    delivered.until(6)
    assert delivered.names == [f"g{index}" for index in range(6)]
    assert sorted(worker for worker, _, _ in delivered.groups) == [0, 0, 0, 1, 1, 1], "balanced by tokens"
    assert all(len(lengths) == 2 for _, _, lengths in delivered.groups)

    delivered.groups.clear()
    router.submit(jobs(6, max_tokens=59), seed=2, alone=False)
    parked = router.park()
    finished = [name for name in delivered.names if name not in parked]
    assert sorted([*parked, *finished]) == [f"g{index}" for index in range(6)]
    again = [GroupJob(j.name, j.prompt, j.samples, j.sampling, parked[j.name]) for j in jobs(6, 59) if j.name in parked]
    router.submit(again, seed=3, alone=False)
    delivered.until(6)
    assert delivered.names == [f"g{index}" for index in range(6)], "each group once, whether it was parked or not"

    os.kill(ray_processes("RolloutWorker")[0], signal.SIGKILL)
    delivered.groups.clear()
    router.submit(jobs(6), seed=4, alone=False)
    delivered.until(6)
    assert delivered.names == [f"g{index}" for index in range(6)]
    assert [message.split()[-1] for message in told] == ["died."]
    assert not delivered.failed.is_set()


@pytest.mark.expensive(2 * SECONDS, "starts two engines", about=RUNS)
def test_a_stopped_engine_is_replaced(build: Build, told: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    # As many CPUs as the cluster has: the replacement needs what the stopped one holds.
    router, delivered = build(1, 4.0), Delivered()
    (pid,) = ray_processes("RolloutWorker")
    os.kill(pid, signal.SIGSTOP)
    monkeypatch.setattr(watch, "WATCH_S", 0.5)
    monkeypatch.setattr(watch, "SILENT_S", 2.0)
    notify = router._notify

    def patient_from_now_on(title: str, message: str) -> None:
        monkeypatch.undo()  # before there is a replacement, which may be slower than that on a busy machine
        notify(title, message)

    monkeypatch.setattr(router, "_notify", patient_from_now_on)
    router.serve(delivered, delivered.failed.set)
    router.submit(jobs(6), seed=1, alone=True)
    delivered.until(6)
    assert delivered.names == [f"g{index}" for index in range(6)]
    assert told == ["Rollout worker 0 did not answer for 2 s."]
    assert router.regenerated == 6


def spoil_once(worker: Any) -> None:
    """The next load writes a wrong tensor, and those behind it are right."""
    weights = worker._engine._weights
    load = weights.load

    def spoilt(given: dict[str, torch.Tensor]) -> None:
        weights.load = load
        load({**given, TORN: given[TORN] * 1.01})

    weights.load = spoilt


def published(router: Router) -> WeightBundle:
    """Version 1: the policy as its engines hold it, with all that a probe asks for."""
    tensors = {name: values for file in POLICY.glob("*.safetensors") for name, values in load_file(file).items()}
    sampler = Sampler(1)
    for sampled, values in tensors.items():
        sampler.take(sampled, values)
    text = [[5, 16, 7, 19]]
    scores = router.score(text).result(60)
    return WeightBundle(1, ObjectStore().pack(1, [tensors]), text, scores, evidence=Evidence(sampler.sample))


@pytest.mark.expensive(SECONDS, "starts an engine", about=RUNS)
def test_a_worker_that_passes_its_second_probe_tells_of_the_first_and_generates_on(
    build: Build, told: list[str]
) -> None:
    router, delivered = build(1, 1.0), Delivered()
    router.serve(delivered, delivered.failed.set)
    (pid,) = ray_processes("RolloutWorker")
    engine = ray.get_actor("router-test/0.0", namespace=ray_cluster.NAMESPACE)
    ray.get(engine.__ray_call__.remote(spoil_once))
    answer = router.update(WeightHandle.of(published(router)), 1, "recompute", False).result(60)
    fault = f"weights 1: 1 of 47 tensors in the engine is not as published: {TORN} "
    assert answer.retried.startswith(fault) and answer.read_share == 1.0 and answer.largest < 1e-4
    assert told == [f"Rollout worker 0 failed its probe ({answer.retried}). It received all weights again and passes."]
    router.submit(jobs(2), seed=1, alone=False)
    delivered.until(2)
    router.check()
    assert (router.regenerated, ray_processes("RolloutWorker")) == (0, [pid]), "nothing was lost or replaced"


@pytest.mark.expensive(SECONDS, "starts an engine", about=TRAINING)
def test_a_worker_that_fails_its_probe_twice_generates_nothing_more_and_is_not_replaced(
    build: Build, told: list[str]
) -> None:
    router, delivered = build(1, 1.0), Delivered()
    router.serve(delivered, delivered.failed.set)
    (pid,) = ray_processes("RolloutWorker")
    said = router.sample([[5, 16, 7], [19]], 6, seed=3).result(60)
    assert said == router.sample([[5, 16, 7], [19]], 6, seed=3).result(60)
    assert all(1 <= len(line) <= 6 for line in said)
    right = published(router)
    figures = router.update(WeightHandle.of(right), 1, "recompute", False).result(60)
    assert figures.read_share == 1.0 and figures.largest < 1e-4 and told == []

    tensors = dict(right.unpacked())
    torn = {**tensors, TORN: torch.cat([tensors[TORN][:40], tensors[TORN][40:] * 1.01])}
    wrong = replace(right, version=2, tensors=ObjectStore().pack(2, [torn]))
    update = router.update(WeightHandle.of(wrong), 2, "recompute", False)
    router.submit(jobs(2), seed=1, alone=False)
    with pytest.raises(WeightsRefused, match=rf"Rollout worker 0 does not compute with .* weights 2: 1 of .*: {TORN} "):
        update.result(60)
    assert delivered.failed.wait(10)
    with pytest.raises(WeightsRefused):
        router.check()
    assert (told, delivered.groups, router.regenerated) == ([], [], 0)
    assert ray_processes("RolloutWorker") == [pid], "it lives on, and no other was started"
