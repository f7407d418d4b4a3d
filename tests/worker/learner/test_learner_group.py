"""The learner on Ray: one rank or two make the same update; a dead rank is a clear error."""

import math
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray
import torch

from tests.support.about import RANKS
from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.episodes import Verdict
from trainer_core.spec import RunSpec
from trainer_core.starter.architectures import make_tiny
from trainer_core.update.learner import Learner, NonFiniteUpdate
from trainer_core.update.model.naming import layer_of
from trainer_core.update.packed.sharding import minibatches, packed_tokens, shards
from worker.errors import LearnerLost, StartError
from worker.learner import ranks
from worker.learner.publication import Publication
from worker.learner.ranks import LearnerGroup
from worker.learner.transport.choice import Travel
from worker.learner.transport.object_store import ObjectStore
from worker.learner.transport.topology import Topology
from worker.learner.weights import WeightBundle, publish

SMOOTH = {"learning_rate": 1e-3, "epsilon": 1e-3}
"""With Adam's usual epsilon the first updates are signs of gradients, and rounding decides those near zero."""

pytestmark = [
    pytest.mark.live,
    pytest.mark.expensive(6, "learns on ranks in other processes", about=RANKS),
    pytest.mark.usefixtures("kept_ranks"),
]


def two_ranks(stage: int) -> RunSpec:
    parallelism = {"learner_ranks": 2, "zero_stage": stage, "max_tokens_per_microbatch": 128}
    return make_spec(optimizer=SMOOTH, parallelism=parallelism)


@pytest.mark.expensive(3, "learns on ranks in other processes")
def test_two_ranks_make_the_update_of_one(policy_dir: Path, tmp_path: Path) -> None:
    alone, spec = Learner(policy_dir, make_spec(optimizer=SMOOTH)), two_ranks(2)
    group = LearnerGroup(policy_dir, spec)
    try:
        for step in (1, 2):
            expected, found = make_groups(step, groups=9), make_groups(step, groups=9)
            trained = [t for part in minibatches(found, 1) for t in part]
            one, other = (packed_tokens(part) for part in shards(trained, 2))
            assert abs(one - other) <= max(len(t.prompt_ids) + t.length for t in trained)
            metrics = group.update(found, spec, step)
            assert metrics == pytest.approx(
                alone.update(expected, make_spec(optimizer=SMOOTH), step), rel=1e-4, abs=1e-6
            )
            for mine, theirs in zip(found, expected, strict=True):
                for trajectory, other in zip(mine.trajectories, theirs.trajectories, strict=True):
                    np.testing.assert_allclose(trajectory.learner_logprobs, other.learner_logprobs, atol=1e-5)
                    np.testing.assert_allclose(trajectory.entropy, other.entropy, atol=1e-5)
        bundle: WeightBundle = group.publish().open()
        assert bundle.version == group.version == 2
        for name, weight in alone.weights().items():
            np.testing.assert_allclose(bundle.tensors[name], weight, atol=1e-6)
        # The checkpoint of two ZeRO-2 ranks goes on with one plain rank.
        saved = group.save(tmp_path / "c", {"note": "two"})
        assert saved.version == 2
        assert alone.load(tmp_path / "c") == {"note": "two"}
        for name, weight in alone.weights().items():
            assert np.array_equal(bundle.tensors[name], weight)
        assert group.load(tmp_path / "c") == {"note": "two"}
    finally:
        group.close()


def test_a_rank_with_nothing_to_do_keeps_in_step(policy_dir: Path) -> None:
    alone, spec = Learner(policy_dir, make_spec(optimizer=SMOOTH)), two_ranks(2)
    group = LearnerGroup(policy_dir, spec)
    try:
        groups, same = make_groups(1, groups=1, samples=1), make_groups(1, groups=1, samples=1)
        metrics = group.update(groups, spec, 1)
        assert metrics == pytest.approx(alone.update(same, make_spec(optimizer=SMOOTH), 1), rel=1e-4, abs=1e-6)
        poisoned = make_groups(2)
        poisoned[0].trajectories[0].earn(math.nan)
        with pytest.raises(NonFiniteUpdate, match="step 2, update 1 of 1"):
            group.update(poisoned, spec, 2)
        group.update(make_groups(2), spec, 2)
        alone.update(make_groups(2), make_spec(optimizer=SMOOTH), 2)
        for name, weight in alone.weights().items():
            np.testing.assert_allclose(group.publish().open().tensors[name], weight, atol=1e-6)
    finally:
        group.close()


@pytest.mark.parametrize("stage", [0, 2])
def test_two_ranks_stream_the_update_of_one(policy_dir: Path, stage: int) -> None:
    alone, spec = Learner(policy_dir, make_spec(optimizer=SMOOTH)), two_ranks(stage)
    expected, found = make_groups(1, groups=5), make_groups(1, groups=5)
    metrics = alone.update(expected, make_spec(optimizer=SMOOTH), 1)
    group = LearnerGroup(policy_dir, spec)
    try:
        group.begin(spec, 1)
        for piece in (found[3:4], found[:3], [], found[4:]):
            group.accumulate(piece)
        assert group.finish() == pytest.approx(metrics, rel=1e-4, abs=1e-6)
        assert group.version == 1
        bundle: WeightBundle = group.publish().open()
        for name, weight in alone.weights().items():
            np.testing.assert_allclose(bundle.tensors[name], weight, atol=1e-6)
        for mine, theirs in zip(found, expected, strict=True):
            for trajectory, other in zip(mine.trajectories, theirs.trajectories, strict=True):
                np.testing.assert_allclose(trajectory.learner_logprobs, other.learner_logprobs, atol=1e-5)
    finally:
        group.close()


@pytest.mark.parametrize("kind", ["head", "separate"])
def test_two_ranks_train_the_critic_of_one(policy_dir: Path, kind: str) -> None:
    optimizer = {**SMOOTH, "ess_scaling": "sqrt"}
    parts = {"advantage": {"type": "gae"}, "critic": {"type": kind}, "filters": [], "optimizer": optimizer}
    alone, one = Learner(policy_dir, make_spec(**parts)), make_spec(**parts)
    spec = make_spec(**parts, parallelism={"learner_ranks": 2, "zero_stage": 2, "max_tokens_per_microbatch": 128})
    group = LearnerGroup(policy_dir, spec)
    try:
        for step in (1, 2):
            expected, found = make_groups(step, groups=5), make_groups(step, groups=5)
            for index, trajectory in enumerate(t for made in (expected, found) for g in made for t in g.trajectories):
                trajectory.verdict = Verdict(float(index % 2))
            metrics = alone.update(expected, one, step)
            assert group.update(found, spec, step) == pytest.approx(metrics, rel=1e-3, abs=1e-5)
            for mine, theirs in zip(found, expected, strict=True):
                for trajectory, other in zip(mine.trajectories, theirs.trajectories, strict=True):
                    np.testing.assert_allclose(trajectory.token_advantages, other.token_advantages, atol=1e-3)
        bundle: WeightBundle = group.publish().open()
        assert bundle.tensors.keys() == alone.weights().keys()
        for name, weight in alone.weights().items():
            np.testing.assert_allclose(bundle.tensors[name], weight, atol=1e-5)
    finally:
        group.close()


@pytest.mark.usefixtures("doomed_ranks")
@pytest.mark.parametrize("ranks", [1, 2])
def test_a_dead_rank_is_named(policy_dir: Path, ranks: int) -> None:
    spec = make_spec(parallelism={"learner_ranks": ranks, "zero_stage": 2})
    group = LearnerGroup(policy_dir, spec)
    group.update(make_groups(1), spec, 1)
    os.kill(ray.get(group.workers[-1].__ray_call__.remote(lambda _: os.getpid())), signal.SIGKILL)
    with pytest.raises(LearnerLost, match=f"learner rank {ranks - 1} died in update"):
        group.update(make_groups(2), spec, 2)
    group.close()


def test_layers_stand_in_the_store_one_by_one_with_the_changes_since(
    policy_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.learner.transport.object_store.IN_BUNDLE", 0)
    spec = make_spec(policy={"base": "tiny", "dtype": "bfloat16"}, optimizer={"learning_rate": 1e-6})
    learner, publication = Learner(policy_dir, spec), Publication(ObjectStore(), smallest=0)
    for step in (1, 2, 3):
        learner.update(make_groups(step), spec, step)
        sent = publish(learner, [[1, 2]], publication).open()
        assert len(sent.changes) == step - 1
        assert isinstance(sent.tensors, tuple)
        assert {layer_of(name) for name in sent.tensors[1].names} == {layer_of(sent.tensors[1].names[0])}
        found, expected = sent.unpacked(), learner.weights()
        assert set(found) == set(expected)
        for name, tensor in found.items():
            assert tensor.dtype == torch.bfloat16
            assert np.array_equal(tensor.float().numpy(), expected[name])
    small = sum(one.size for one in publication.chain)
    assert 0 < small < 0.3 * 2 * sum(weight.size for weight in expected.values())


def test_the_store_shares_weights_without_a_copy(policy_dir: Path) -> None:
    group = LearnerGroup(policy_dir, make_spec())
    try:
        bundle = group.publish().open()
        assert bundle.version == 0
        assert not any(array.flags.writeable or array.flags.owndata for array in bundle.tensors.values())
        assert len(bundle.probe_sequences) == len(bundle.probe_logprobs) == 4
        for sequence, logprobs in zip(bundle.probe_sequences, bundle.probe_logprobs, strict=True):
            assert len(logprobs) == len(sequence) - 1
            assert all(math.isfinite(value) and value < 0 for value in logprobs)
    finally:
        group.close()


def test_a_run_s_weights_travel_as_its_hosts_allow(policy_dir: Path) -> None:
    group = LearnerGroup(policy_dir, make_spec(), travel=Travel("auto", Topology()))
    try:
        handle = group.publish()
        assert (handle.transport, handle.why) == ("shared_memory", "all models of the run are on one host")
        first = handle.open()
        first.fetch(None)
        # Two hosts, of which one has gone by the time that weights are published.
        ray.get(group.workers[0].carry_by.remote(Travel("auto", Topology(hosts=2))))
        other = group.publish()
        assert other.transport == "shared_memory"
        for name, weight in other.open().unpacked().items():
            assert torch.equal(first.unpacked()[name], weight)
        with pytest.raises(StartError, match="the run's models are on CPUs"):
            ray.get(group.workers[0].carry_by.remote(Travel("cuda_ipc", Topology())))
    finally:
        group.close()


@pytest.mark.parametrize(
    ("name", "engine", "changes"),
    [
        ("qwen3", {"dtype": "bfloat16"}, True),
        ("mixtral", {"dtype": "bfloat16"}, False),
        ("qwen3", {"quantization": {"type": "fp8"}}, False),
    ],
    ids=["dense", "experts", "fp8"],
)
def test_engines_that_load_all_weights_anew_are_sent_no_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, engine: dict[str, Any], changes: bool
) -> None:
    asked: list[bool] = []
    monkeypatch.setattr(ranks, "hosts", lambda: 2)
    monkeypatch.setattr(ranks, "publish", lambda *_, whole, why: asked.append(whole))
    rollout = {"group_size": 4, "max_tokens": 60, "engine": {"max_model_len": 128, **engine}}
    worker: Any = object.__new__(ranks.LearnerWorker)
    worker._rank, worker.cores, worker._witness, worker._publication = 0, None, None, Publication(ObjectStore())
    worker._left = worker._travel = None
    worker._choice = ranks.ChosenTransport("object_store", "")
    worker._learner = Learner(make_tiny(name, tmp_path / name), make_spec(rollout=rollout))
    worker.publish([[1, 2]])
    assert asked == [not changes]
