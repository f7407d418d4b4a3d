"""Changes of weights in a real engine: the same as the whole, refused when wrong, and the whole where they fail."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
import torch
from torch import Tensor
from transformers import Qwen3ForCausalLM

from tests.worker.engine.policies import perturbed, start, state
from trainer_core.update.formats.changes import PLACES, VALUES
from worker.engine import InferenceEngine, WeightsRefusedError
from worker.learner.probe.check import apply_and_probe
from worker.learner.publication import PATIENCE, Publication
from worker.learner.transport import TRANSPORTS, WeightTransport
from worker.learner.transport.object_store import CHANGES_IN_BUNDLE, ObjectStore
from worker.learner.transport.topology import Topology
from worker.learner.weights import WeightBundle, bundle

SEQUENCES = [[3, 9, 27, 41, 4, 12, 36, 50, 33, 2], list(range(2, 58)) * 3]
EMBEDDING, GATE, NORM = "model.embed_tokens.weight", "model.layers.2.mlp.gate_proj.weight", "model.norm.weight"
Policy = tuple[Path, Qwen3ForCausalLM]


class Learning:
    """A learner whose bfloat16 weights move in a few places at a time."""

    engine_fp8 = None

    def __init__(self, model: Qwen3ForCausalLM, transport: WeightTransport | None = None) -> None:
        self.version = 0
        self.tensors = {name: torch.from_numpy(array).bfloat16() for name, array in state(model).items()}
        self.publication = Publication(transport or ObjectStore(), smallest=0)

    def layers(self) -> Iterator[dict[str, Tensor]]:
        for name, tensor in self.tensors.items():
            yield {name: tensor}

    def score(self, sequences: Sequence[Sequence[int]]) -> list[list[float]]:
        return [[0.0] * (len(sequence) - 1) for sequence in sequences]

    def score_rounded_otherwise(self, sequences: Sequence[Sequence[int]]) -> None:
        """The scores are no policy's."""

    def publish(self, *names: str, share: float = 0.03) -> WeightBundle:
        """The next version, in which a share of the named tensors has moved."""
        self.version += 1
        generator = torch.Generator().manual_seed(self.version)
        for name in names:
            moved = torch.rand(self.tensors[name].shape, generator=generator) < share
            self.tensors[name][moved] += 0.25
        return bundle(self, [[1, 2]], self.publication)


@pytest.fixture(scope="module")
def engines(shared_engine: InferenceEngine, tied_policy: Policy) -> dict[str, InferenceEngine]:
    """By the type of their head."""
    heads: tuple[Literal["model", "float32"], ...] = ("model", "float32")
    return {head: start(tied_policy[0], dtype="bfloat16", lm_head_dtype=head) for head in heads}


def on_first_weights(engine: InferenceEngine, model: Qwen3ForCausalLM) -> InferenceEngine:
    """The engine as it was when it had started."""
    engine.load_weights(0, {name: torch.from_numpy(array).bfloat16() for name, array in state(model).items()})
    assert engine.weights_key is None
    return engine


@pytest.fixture(params=["model", "float32"])
def engine(engines: dict[str, InferenceEngine], tied_policy: Policy, request: pytest.FixtureRequest) -> InferenceEngine:
    return on_first_weights(engines[request.param], tied_policy[1])


@pytest.fixture
def learning(tied_policy: Policy) -> Learning:
    return Learning(tied_policy[1])


def served_whole(engine: InferenceEngine, learning: Learning) -> list[list[float]]:
    """What the engine answers with the learner's weights loaded as a whole."""
    engine.load_weights(learning.version, dict(learning.tensors))
    return engine.score(SEQUENCES)


class Watch:
    """Which way versions took into an engine."""

    def __init__(self, engine: InferenceEngine, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ways: list[str] = []
        for way in ("load_weights", "load_changes"):
            monkeypatch.setattr(engine, way, self._noting(way, getattr(engine, way)))

    def _noting(self, way: str, call: Any) -> Any:
        def noted(*args: Any, **kwargs: Any) -> Any:
            self.ways.append(way.removeprefix("load_"))
            return call(*args, **kwargs)

        return noted

    def taken(self) -> list[str]:
        ways, self.ways = self.ways, []
        return ways


def test_changes_give_the_same_policy_as_the_whole(
    engine: InferenceEngine, learning: Learning, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = Watch(engine, monkeypatch)
    learning.publish().load_into(engine)
    assert watch.taken() == ["weights"]
    packed: list[Any] = []
    for names in ((EMBEDDING, GATE), (NORM,), ("model.layers.0.self_attn.k_proj.weight", GATE), ()):
        before = engine.score(SEQUENCES)
        sent = learning.publish(*names)
        assert len(sent.changes) == learning.version - 1
        sent.load_into(engine)
        assert watch.taken() == ["changes"]
        assert engine.version == learning.version
        found = engine.score(SEQUENCES)
        assert (found == before) == (not names)
        packed.append(found)
    key = engine.weights_key
    assert key is not None
    assert served_whole(engine, learning) == packed[-1]
    assert engine.weights_key is None


@pytest.mark.parametrize("name", ["shared_memory", "distributed", "files"])
def test_an_engine_loads_what_any_transport_brings(
    engines: dict[str, InferenceEngine],
    tied_policy: Policy,
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = on_first_weights(engines["model"], tied_policy[1])
    transport = TRANSPORTS[name].sender(Topology(location=str(tmp_path), folder="run-1"))
    learning, ways = Learning(tied_policy[1], transport), list[str]()
    found: list[Any] = []
    for names in ((), (EMBEDDING, GATE), (NORM,)):
        sent: WeightBundle = pickle.loads(pickle.dumps(learning.publish(*names)))
        sent.fetch(engine.weights_key)
        with monkeypatch.context() as while_it_stands_still:
            while_it_stands_still.setattr(type(transport), "unpack", None)
            watch = Watch(engine, while_it_stands_still)
            sent.load_into(engine)
        ways += watch.taken()
        assert engine.version == learning.version
        found.append(engine.score(SEQUENCES))
    assert ways == ["weights", "changes", "changes"]
    assert found[-1] == served_whole(engine, learning) != found[0]
    fresh = pickle.loads(pickle.dumps(sent))
    fresh.load_into(engine, whole=True)
    assert engine.score(SEQUENCES) == found[-1]
    transport.close()


def test_whoever_has_missed_versions_or_has_none_gets_what_is_missing(
    engine: InferenceEngine, learning: Learning, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = Watch(engine, monkeypatch)
    first, *_, last = (learning.publish(GATE, EMBEDDING) for _ in range(4))
    last.load_into(engine)
    assert watch.taken() == ["weights"]
    expected = engine.score(SEQUENCES)
    first.load_into(engine)
    assert engine.score(SEQUENCES) != expected
    last.load_into(engine)
    assert watch.taken() == ["weights", "changes"]
    assert engine.score(SEQUENCES) == expected == served_whole(engine, learning)
    last.load_into(engine, whole=True)
    assert watch.taken() == ["weights", "weights"]
    assert engine.score(SEQUENCES) == expected


def test_changes_that_give_other_weights_are_found_and_the_whole_is_loaded(
    engine: InferenceEngine, learning: Learning, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    learning.publish().load_into(engine)
    sent = learning.publish(GATE, EMBEDDING)
    watch = Watch(engine, monkeypatch)
    engine._weights._places[GATE][17] += 1.0  # a bit that has tipped
    sent.load_into(engine)
    assert watch.taken() == ["changes", "weights"]
    assert f"partly written ({GATE} differs from the learner's)" in caplog.text
    assert engine.score(SEQUENCES) == served_whole(engine, learning)


@pytest.mark.parametrize(
    ("ending", "value", "sentence"),
    [(VALUES, torch.nan, "contains values that are not finite"), (PLACES, 1 << 30, "outside its 49152 numbers")],
)
def test_wrong_changes_are_refused_and_the_old_version_goes_on(
    engine: InferenceEngine, learning: Learning, ending: str, value: float, sentence: str
) -> None:
    learning.publish().load_into(engine)
    key, before = engine.weights_key, engine.score(SEQUENCES)
    sent = learning.publish(GATE)
    spoilt = {name: tensor.clone() for name, tensor in ObjectStore().unpack(sent.changes[0].packed).items()}
    spoilt[GATE + ending][0] = value
    wrong = replace(sent, changes=(replace(sent.changes[0], packed=ObjectStore().pack(2, [spoilt])),))
    with pytest.raises(WeightsRefusedError, match=sentence):
        wrong.load_into(engine)
    assert (engine.version, engine.weights_key) == (1, key)
    assert engine.score(SEQUENCES) == before
    sent.load_into(engine)
    assert engine.score(SEQUENCES) == served_whole(engine, learning)


@pytest.mark.parametrize("kv", ["keep", "recompute"])
def test_the_probe_follows_changes_too(
    engine: InferenceEngine, learning: Learning, kv: Literal["keep", "recompute"]
) -> None:
    learning.publish().load_into(engine)
    sent = learning.publish(GATE)
    assert 0.0 < apply_and_probe(engine, sent, 100.0, kv=kv).largest < 100.0


def test_only_the_layers_that_changed_are_packed_again(
    engine: InferenceEngine, learning: Learning, monkeypatch: pytest.MonkeyPatch
) -> None:
    learning.publish().load_into(engine)
    packed: list[Any] = []
    pack = type(engine._weights)._pack_again
    monkeypatch.setattr(
        type(engine._weights), "_pack_again", lambda self, modules: (packed.extend(modules), pack(self, modules))[1]
    )
    learning.publish(GATE).load_into(engine)
    assert [type(module).__name__ for module in packed] == ["MergedColumnParallelLinear"]


@pytest.mark.expensive(2, "publishes many versions")
@pytest.mark.usefixtures("cluster")
def test_a_version_that_has_changed_too_much_ends_the_chain(tied_policy: Policy) -> None:
    learning = Learning(tied_policy[1])
    assert learning.publish().changes == ()
    everything = tuple(learning.tensors)
    assert len(learning.publish(*everything, share=0.9).changes) == 1
    for _ in range(PATIENCE):
        assert learning.publish().changes == ()
    assert len(learning.publish(GATE).changes) == 1
    while len(learning.publish(*everything, share=0.2).changes) > 1:
        pass
    assert learning.publication.chain == ()


@pytest.mark.usefixtures("cluster")
def test_a_chain_of_changes_is_short_and_refers_to_what_is_large(
    tied_policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.learner.publication.LONGEST", 3)
    learning = Learning(tied_policy[1])
    everything = tuple(learning.tensors)
    sent = [learning.publish(*names, share=0.06) for names in ((), everything, (NORM,), everything, ())]
    assert [len(one.changes) for one in sent] == [0, 1, 2, 3, 0]
    changes = sent[3].changes
    assert [isinstance(one.packed, tuple) for one in changes] == [True, False, True]
    assert changes[0].size > 2 * CHANGES_IN_BUNDLE > 100 * changes[1].size
    found = sent[3].unpacked()
    assert set(found) == set(everything)
    assert all(torch.equal(found[name], tensor) for name, tensor in learning.tensors.items())


def test_float32_and_small_policies_travel_whole(tied_policy: Policy) -> None:
    learning = Learning(tied_policy[1])
    learning.tensors = {name: tensor.float() for name, tensor in learning.tensors.items()}
    assert [learning.publish(NORM).changes for _ in range(3)] == [(), (), ()]
    small = Learning(tied_policy[1])
    small.publication = Publication(ObjectStore())
    assert [small.publish(NORM).changes for _ in range(3)] == [(), (), ()]


def test_a_learner_that_starts_again_is_taken_for_nobody_else(
    engine: InferenceEngine, learning: Learning, tied_policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    learning.publish().load_into(engine)
    other = Learning(perturbed(tied_policy[1]))
    other.publish()
    watch = Watch(engine, monkeypatch)
    other.publish(GATE).load_into(engine)
    assert watch.taken() == ["weights"]
    assert engine.score(SEQUENCES) == served_whole(engine, other)
