"""A rollout worker that stands still is noticed and replaced; its groups are generated again, none twice."""

import os
import signal
from typing import Any

import numpy as np
import pytest
import ray

from tests.worker.conftest import CPUS
from tests.worker.loop.conftest import POLICY
from tests.worker.loop.processes import ray_processes
from worker import cluster as ray_cluster
from worker import rollout_pool as module
from worker.chunk import GenerationStats
from worker.engine import EngineConfig, Sampling
from worker.rollout import RolloutJob, rollout_actor_class
from worker.rollout_pool import RolloutPool


def test_a_stopped_engine_is_replaced(cluster: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WATCH_S", 0.5)
    monkeypatch.setattr(module, "HUNG_S", 2.0)
    told: list[str] = []

    def spawn(index: int, generation: int) -> Any:
        # As many CPUs as the cluster has: the replacement needs what the stopped one holds.
        options = ray_cluster.actor_options(f"pool-test/{index}.{generation}", CPUS)
        return rollout_actor_class().options(**options).remote()

    config = EngineConfig(str(POLICY), max_model_len=64, max_num_seqs=64, kv_cache_gib=0.05)
    pool = RolloutPool(spawn, 1, config, 0.05, lambda title, message: told.append(message))
    ray.get(pool.started)
    (pid,) = ray_processes("RolloutWorker")
    os.kill(pid, signal.SIGSTOP)
    prompts = tuple(np.array([5, 16, 7, 19], np.int32) for _ in range(6))
    job = RolloutJob("1", tuple(range(6)), prompts, 2, Sampling(1.0, max_tokens=8), seed=1)
    items = list(pool.generate(job))
    groups = [index for item in items if not isinstance(item, GenerationStats) for index in item[1].groups.tolist()]
    assert sorted(groups) == [index for index in range(6) for _ in range(2)]
    assert told == ["Rollout worker 0 made no progress for 2 s."]
    pool.close()
