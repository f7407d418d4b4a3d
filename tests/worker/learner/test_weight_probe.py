"""The probe with a real learner and a real engine: what the engine does not compute with is found out."""

import math
import pickle
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import ray
from transformers import Qwen3ForCausalLM

from tests.trainer_core.update.making import make_groups, make_spec
from tests.worker.engine.policies import VOCAB, start
from worker.engine import InferenceEngine, WeightsRefusedError
from worker.learner.probe import ProbeFailed, apply_and_probe, probe_sequences
from worker.learner.ranks import LearnerGroup
from worker.learner.weights import WeightBundle

TOLERANCE = 1e-3
SPEC = make_spec(optimizer={"learning_rate": 3e-3})


@pytest.fixture(scope="module")
def engine(tied_policy: tuple[Path, Qwen3ForCausalLM]) -> Iterator[InferenceEngine]:
    engine = start(tied_policy[0])
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def versions(cluster: None, tied_policy: tuple[Path, Qwen3ForCausalLM]) -> Iterator[list[WeightBundle]]:
    """Versions 0 to 2 of a policy that learns."""
    learner = LearnerGroup(tied_policy[0], SPEC)
    bundles = [ray.get(learner.publish())]
    for step in (1, 2):
        groups = make_groups(step)
        for group in groups:
            for trajectory in group.trajectories:
                trajectory.token_ids %= VOCAB
                trajectory.prompt_ids %= VOCAB
        learner.update(groups, SPEC, step)
        bundles.append(ray.get(learner.publish()))
    yield bundles
    learner.close()


def test_every_version_reaches_the_engine(engine: InferenceEngine, versions: list[WeightBundle]) -> None:
    for bundle in (*versions, versions[0]):
        assert apply_and_probe(engine, bundle, TOLERANCE) < TOLERANCE
        assert engine.version == bundle.version


def test_stale_weights_under_a_new_number_are_found(engine: InferenceEngine, versions: list[WeightBundle]) -> None:
    stale = replace(versions[2], tensors=versions[1].tensors)
    with pytest.raises(ProbeFailed, match="weights 2: engine and learner differ by") as caught:
        apply_and_probe(engine, stale, TOLERANCE)
    assert caught.value.max_abs_diff > TOLERANCE == caught.value.tolerance
    assert apply_and_probe(engine, versions[1], TOLERANCE) < TOLERANCE


@pytest.mark.parametrize(
    "name", ["model.embed_tokens.weight", "model.layers.0.self_attn.k_norm.weight", "model.layers.3.mlp.up_proj.weight"]
)
def test_one_corrupted_tensor_is_found(engine: InferenceEngine, versions: list[WeightBundle], name: str) -> None:
    tensors = dict(versions[2].tensors)
    tensors[name] = np.roll(tensors[name], 1, axis=-1) * np.float32(1.5)
    with pytest.raises(ProbeFailed):
        apply_and_probe(engine, replace(versions[2], tensors=tensors), TOLERANCE)
    assert apply_and_probe(engine, versions[2], TOLERANCE) < TOLERANCE


def test_weights_that_never_reach_the_kernels_are_found(
    engine: InferenceEngine, versions: list[WeightBundle], monkeypatch: pytest.MonkeyPatch
) -> None:
    apply_and_probe(engine, versions[0], TOLERANCE)
    monkeypatch.setattr(engine._weights, "load", lambda tensors: None)
    with pytest.raises(ProbeFailed):
        apply_and_probe(engine, versions[2], TOLERANCE)


def test_refused_weights_leave_the_old_version(engine: InferenceEngine, versions: list[WeightBundle]) -> None:
    apply_and_probe(engine, versions[1], TOLERANCE)
    tensors = dict(versions[2].tensors)
    tensors.pop("model.norm.weight")
    with pytest.raises(WeightsRefusedError, match=r"model\.norm\.weight"):
        apply_and_probe(engine, replace(versions[2], tensors=tensors), TOLERANCE)
    assert engine.version == 1
    assert engine.score(versions[1].probe_sequences)[0] == pytest.approx(versions[1].probe_logprobs[0], abs=TOLERANCE)


class Mute:
    """A receiver that answers with what it is told to."""

    def __init__(self, answers: list[list[float]]) -> None:
        self.answers = answers

    def load_weights(self, version: int, tensors: object, *, kv: str = "recompute") -> None:
        """Nothing to load."""

    def score(self, sequences: list[list[int]]) -> list[list[float]]:
        """The answers."""
        return self.answers


def test_a_score_that_is_not_a_number_fails() -> None:
    weights = WeightBundle(5, {}, [[1, 2, 3]], [[-1.0, -2.0]])
    assert apply_and_probe(Mute([[-1.0, -2.25]]), weights, 0.25) == 0.25
    with pytest.raises(ProbeFailed, match="differ by nan nats at token 2 of probe 0"):
        apply_and_probe(Mute([[-1.0, math.nan]]), weights, 0.25)
    with pytest.raises(ProbeFailed, match=r"differ by 0\.5 nats at token 1 of probe 0; the tolerance is 0\.25"):
        apply_and_probe(Mute([[-1.5, -2.0]]), weights, 0.25)


@pytest.mark.parametrize("where", ["token 1 of probe 0", "", "a place; the tolerance of which nats at nothing tells"])
@pytest.mark.parametrize("difference", [0.123456789, math.inf])
def test_a_failed_probe_keeps_its_figures_across_processes(where: str, difference: float) -> None:
    error = pickle.loads(pickle.dumps(ProbeFailed(3, difference, 0.1, where)))
    assert type(error) is ProbeFailed
    assert (error.version, error.max_abs_diff, error.tolerance, error.where) == (3, difference, 0.1, where)
    assert str(error) == str(ProbeFailed(3, difference, 0.1, where))


def test_probe_sequences_fit_and_never_change() -> None:
    assert probe_sequences(64, 512) == probe_sequences(64, 512)
    assert {len(sequence) for sequence in probe_sequences(64, 8)} == {7}
    assert all(0 <= token < 5 for sequence in probe_sequences(5, 512) for token in sequence)
