"""The probe with a real learner and a real engine: what the engine does not compute with is found out."""

import math
import pickle
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
import torch
from transformers import Qwen3ForCausalLM

from tests.support.about import TRAINING
from tests.support.kept_ranks import KeptRanks
from tests.trainer_core.update.making import make_groups, make_spec
from tests.worker.engine.policies import VOCAB, start
from trainer_core.update.learner import Learner
from worker.engine import InferenceEngine, WeightsRefusedError
from worker.engine.readback import ReadBack
from worker.learner import weights
from worker.learner.probe.check import apply_and_probe
from worker.learner.probe.errors import ProbeFailed
from worker.learner.probe.evidence import FIXED, Evidence, WeightSample, Witness, columns_of
from worker.learner.probe.sequences import probe_sequences, probe_text
from worker.learner.ranks import LearnerGroup
from worker.learner.transport import TRANSPORTS, Tensors
from worker.learner.weights import WeightBundle
from worker.messages.probe import Floor

TOLERANCE = 1e-3
TEXT = [[3, 9, 27, 41, 4, 12, 36, 50, 33, 2], *([start, *range(20, 58)] for start in (3, 5, 7))]
SPEC = make_spec(optimizer={"learning_rate": 3e-3})


@pytest.fixture(scope="module")
def engine(tied_policy: tuple[Path, Qwen3ForCausalLM]) -> Iterator[InferenceEngine]:
    engine = start(tied_policy[0])
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def versions(
    ranks_of_the_session: KeptRanks, tied_policy: tuple[Path, Qwen3ForCausalLM]
) -> Iterator[list[WeightBundle]]:
    """Versions 0 to 2 of a policy that learns."""
    with patch("worker.learner.ranks.ray", ranks_of_the_session):
        learner = LearnerGroup(tied_policy[0], SPEC)
        bundles = [learner.publish().open()]
        for step in (1, 2):
            groups = make_groups(step)
            for group in groups:
                for trajectory in group.trajectories:
                    trajectory.token_ids %= VOCAB
                    trajectory.prompt_ids %= VOCAB
            learner.update(groups, SPEC, step)
            bundles.append(learner.publish().open())
        yield bundles
        learner.close()


def holding(bundle: WeightBundle, tensors: Tensors) -> WeightBundle:
    """The bundle with other tensors than its evidence is of."""
    return replace(bundle, tensors=TRANSPORTS[bundle.transport].pack(bundle.version, [tensors]), base_key="")


def test_every_version_reaches_the_engine(engine: InferenceEngine, versions: list[WeightBundle]) -> None:
    floor = None
    for bundle in (*versions, versions[0]):
        found = apply_and_probe(engine, bundle, TOLERANCE, floor)
        assert found.mean <= found.quantile <= found.largest < TOLERANCE
        assert (found.read_share, found.retried, engine.version) == (1.0, "", bundle.version)
        floor = floor or found.floor


def test_stale_weights_under_a_new_number_are_found(engine: InferenceEngine, versions: list[WeightBundle]) -> None:
    floor = apply_and_probe(engine, versions[0], TOLERANCE).floor
    stale = holding(versions[2], versions[1].unpacked())
    with pytest.raises(ProbeFailed) as caught:
        apply_and_probe(engine, stale, TOLERANCE, floor)
    held, text, old = caught.value.findings
    count = len(versions[1].unpacked())
    assert held.startswith(f"{count + 1} of {count + 1} tensors in the engine are not as published: "), "tied: in two"
    assert "model.embed_tokens.weight (it has those of version 1)" in held
    assert text.startswith("engine and learner differ by ") and "where the noise is" in text
    assert old == "the engine's answers lack 100% of what version 1 did not yet have"
    assert apply_and_probe(engine, versions[1], TOLERANCE, floor).largest < TOLERANCE


def test_the_text_alone_finds_a_stale_engine(engine: InferenceEngine, versions: list[WeightBundle]) -> None:
    """Where no kernel can be asked, as with experts whose kernel packs them in a way that is not understood."""
    floor = apply_and_probe(engine, versions[0], TOLERANCE).floor
    blind = replace(versions[2].evidence, sample=WeightSample())
    stale = holding(versions[2], versions[1].unpacked())
    with pytest.raises(ProbeFailed, match=r"^weights 2: engine and .*; the engine's answers lack 100%"):
        apply_and_probe(engine, replace(stale, evidence=blind), TOLERANCE, floor)
    found = apply_and_probe(engine, replace(versions[2], evidence=blind), TOLERANCE, floor)
    assert (found.read_share, found.floor) == (0.0, floor)


@pytest.mark.parametrize(
    "name", ["model.embed_tokens.weight", "model.layers.0.self_attn.k_norm.weight", "model.layers.3.mlp.up_proj.weight"]
)
def test_one_corrupted_tensor_is_named(engine: InferenceEngine, versions: list[WeightBundle], name: str) -> None:
    tensors = dict(versions[2].unpacked())
    tensors[name] = tensors[name] * (1.0 + 1e-6)
    with pytest.raises(ProbeFailed, match=rf"^weights 2: . of 47 tensors .* not as published: {name} ") as e:
        apply_and_probe(engine, holding(versions[2], tensors), TOLERANCE)
    assert e.value.findings[1] == "noise can be measured only over the learner's weights"
    assert apply_and_probe(engine, versions[2], TOLERANCE).largest < TOLERANCE


def test_swapped_tensors_are_told_by_their_names(engine: InferenceEngine, versions: list[WeightBundle]) -> None:
    tensors = dict(versions[2].unpacked())
    first, second = "model.layers.0.mlp.gate_proj.weight", "model.layers.0.mlp.up_proj.weight"
    tensors[first], tensors[second] = tensors[second], tensors[first]
    with pytest.raises(ProbeFailed) as caught:
        apply_and_probe(engine, holding(versions[2], tensors), TOLERANCE)
    assert f"{first} (it has the values of {second}), {second} (it has the values of {first})" in str(caught.value)


def test_weights_that_never_reach_the_kernels_are_found(
    engine: InferenceEngine, versions: list[WeightBundle], monkeypatch: pytest.MonkeyPatch
) -> None:
    apply_and_probe(engine, versions[1], TOLERANCE)
    with monkeypatch.context() as patch:
        patch.setattr(engine._weights, "load", lambda tensors: None)
        with pytest.raises(ProbeFailed, match=r"it has those of version 1"):
            apply_and_probe(engine, versions[2], TOLERANCE)
    # Copied but not packed: the parameters are new, the kernels compute with the old ones.
    with monkeypatch.context() as patch:
        patch.setattr(engine._weights, "pack", lambda: None)
        with pytest.raises(ProbeFailed, match=r"^weights 2: 29 of 47 tensors .* \(it has those of version 1\)"):
            apply_and_probe(engine, versions[2], TOLERANCE)
    apply_and_probe(engine, versions[1], TOLERANCE)


def test_refused_weights_leave_the_old_version(engine: InferenceEngine, versions: list[WeightBundle]) -> None:
    apply_and_probe(engine, versions[1], TOLERANCE)
    tensors = dict(versions[2].unpacked())
    tensors.pop("model.norm.weight")
    with pytest.raises(WeightsRefusedError, match=r"model\.norm\.weight"):
        apply_and_probe(engine, holding(versions[2], tensors), TOLERANCE)
    assert engine.version == 1
    assert engine.score(versions[1].probe_sequences)[0] == pytest.approx(versions[1].probe_logprobs[0], abs=TOLERANCE)


@pytest.mark.expensive(2, "starts a learner", about=TRAINING)
def test_a_policy_in_bfloat16_that_becomes_sharper_passes(
    engine: InferenceEngine, tied_policy: tuple[Path, Qwen3ForCausalLM]
) -> None:
    """Clean updates: engine and learner have the same weights all the time."""
    settings = {"max_model_len": 256, "dtype": "bfloat16", "lm_head_dtype": "float32"}
    rollout = {"group_size": 4, "max_tokens": 60, "engine": settings}
    learner = Learner(tied_policy[0], make_spec(policy={"base": "tiny", "dtype": "bfloat16"}, rollout=rollout))
    narrow, text, witness = start(tied_policy[0], dtype="bfloat16", lm_head_dtype="float32"), TEXT, Witness()
    floor = apply_and_probe(narrow, weights.bundle(learner, text, witness=witness), 0.5).floor
    norm = dict(learner._parts.model.named_parameters())["model.norm.weight"]
    for _ in range(5):
        norm.data.mul_(2.0)  # logits are twice as far apart
        sharper = weights.bundle(learner, text, witness=witness)
        found = apply_and_probe(narrow, sharper, 0.5, floor)
    assert 8 < found.floor.mean / floor.mean < 128 and found.mean < 2 * found.floor.mean
    # Judged by the noise of the start alone it would be stopped, though nothing is wrong.
    unknown = replace(sharper, evidence=replace(sharper.evidence, rounding=0.0))
    with pytest.raises(ProbeFailed, match=r"^weights 0: engine and learner differ by .* nats on average"):
        apply_and_probe(narrow, unknown, 0.5, floor)


class Mute:
    """A receiver that answers with what it is told to, and cannot be asked for its weights."""

    read_share = 0.0

    def __init__(self, answers: list[list[float]]) -> None:
        self.answers = answers

    def load_weights(self, version: int, tensors: object, *, kv: str = "recompute") -> None:
        """Nothing to load."""

    def read_weights(self, columns: object) -> list[object]:
        """No kernel can be asked."""
        return []

    def score(self, sequences: list[list[int]]) -> list[list[float]]:
        """The answers."""
        return self.answers[: len(sequences)]


def test_a_score_that_is_not_a_number_fails() -> None:
    weights = WeightBundle(5, {}, [[1, 2, 3]], [[-1.0, -2.0]])
    assert apply_and_probe(Mute([[-1.0, -2.25]]), weights, 0.25).largest == 0.25
    with pytest.raises(ProbeFailed, match=r"^weights 5: a score is not a number, at token 2 of probe 0$"):
        apply_and_probe(Mute([[-1.0, math.nan]]), weights, 0.25)
    differ = r"differ by 0\.5 nats on average at the start, more than the 0\.25 that counts as noise$"
    with pytest.raises(ProbeFailed, match=differ):
        apply_and_probe(Mute([[-1.5, -2.5]]), weights, 0.25)


def bundle_of(scores: list[float], rounding: float = 0.0, before: list[float] | None = None) -> WeightBundle:
    old = None if before is None else (4, WeightSample(), [before])
    evidence = Evidence(before=old, rounding=rounding)
    return WeightBundle(5, {}, [list(range(len(scores) + 1))], [scores], evidence=evidence)


def test_the_noise_of_the_start_judges_and_grows_with_the_learners_rounding_alone() -> None:
    rng = np.random.default_rng(0)
    expected = (-rng.random(100)).tolist()
    noisy = (np.array(expected) + rng.normal(0.0, 0.01, 100)).tolist()
    floor = Floor(mean=0.008, quantile=0.02, spread=0.01, rounding=0.01)
    passed = apply_and_probe(Mute([noisy]), bundle_of(expected), 1.0, floor)
    assert passed.floor == floor and 0.005 < passed.mean < 0.01
    far = (np.array(expected) + 10 * (np.array(noisy) - np.array(expected))).tolist()
    with pytest.raises(ProbeFailed, match=r"differ by 0.0.* nats on average, where the noise is 0.008, most at") as e:
        apply_and_probe(Mute([far]), bundle_of(expected, rounding=0.01), 1.0, floor)
    assert e.value.by_noise, "no weights that were read back speak against the engine"
    grown = apply_and_probe(Mute([far]), bundle_of(expected, rounding=0.1), 1.0, floor)
    assert grown.floor == Floor(mean=0.08, quantile=0.2, spread=0.1, rounding=0.1)
    # One wild token is what experts do; a tenth of all tokens is a fault, however small the mean.
    wild = [*noisy[:-1], expected[-1] + 5.0]
    assert apply_and_probe(Mute([wild]), bundle_of(expected), 1.0, floor).largest == pytest.approx(5.0)
    some = [*noisy[:-10], *(score + 0.2 for score in expected[-10:])]
    with pytest.raises(ProbeFailed, match=r"one token in twenty differs by 0.2 nats or more"):
        apply_and_probe(Mute([some]), bundle_of(expected), 1.0, floor)


def test_an_update_within_the_noise_of_a_token_is_missed_by_none_of_a_hundred() -> None:
    """A stale engine differs by the update; where that is as small as the noise, its direction tells."""
    rng = np.random.default_rng(0)
    expected = -rng.random(100)
    before, noise = expected - rng.normal(0.0, 0.015, 100), rng.normal(0.0, 0.01, 100)
    floor = Floor(mean=0.008, quantile=0.02, spread=0.01)
    weights = bundle_of(expected.tolist(), before=before.tolist())
    apply_and_probe(Mute([(expected + noise).tolist()]), weights, 1.0, floor)
    with pytest.raises(
        ProbeFailed, match=r"^weights 5: the engine's answers lack \d+% of what version 4 did not yet have"
    ):
        apply_and_probe(Mute([(before + noise).tolist()]), weights, 1.0, floor)


def test_the_learners_own_rounding_is_no_update_that_an_engine_lacks() -> None:
    """The engine does not round as the learner does, neither now nor before."""
    rng = np.random.default_rng(0)
    exact = -rng.random(100) - 1.0
    floor = Floor(mean=0.1, quantile=0.3, spread=0.14, rounding=0.1)
    for _ in range(50):
        scores, before, answers = (exact + 0.04 * rng.standard_t(2, 100) for _ in range(3))
        weights = bundle_of(scores.tolist(), 0.1, before.tolist())
        apply_and_probe(Mute([answers.tolist()]), weights, 1.0, floor)
    # An update that is larger than all rounding is missed where it lacks.
    old = exact - rng.normal(0.0, 0.5, 100)
    weights = bundle_of((exact + rng.normal(0.0, 0.05, 100)).tolist(), 0.1, old.tolist())
    with pytest.raises(ProbeFailed, match=r"lack \d+% of what version 4 did not yet have"):
        apply_and_probe(Mute([(old + rng.normal(0.0, 0.05, 100)).tolist()]), weights, 1.0, floor)


def test_where_every_tensor_was_read_back_no_text_calls_an_engine_stale() -> None:
    """A token that goes to other experts in the learner moves its scores alone."""
    expected, before = [-1.0] * 99 + [-6.0], [-1.0] * 100
    values = np.ones(3, np.float32)
    held = ReadBack("norm", "norm", torch.float32, values)
    weights = bundle_of(expected, before=before)
    weights = replace(weights, evidence=replace(weights.evidence, sample=WeightSample({}, {"norm": values})))
    engine, floor = Mute([before]), Floor(0.01, 0.01, 0.01)
    engine.read_weights = lambda columns: [held]  # type: ignore[method-assign]
    with pytest.raises(ProbeFailed, match="answers lack 100% of what version 4"):
        apply_and_probe(engine, weights, 1.0, floor)
    engine.read_share = 1.0
    assert apply_and_probe(engine, weights, 1.0, floor).largest == 5.0


@pytest.mark.parametrize(
    ("off", "passes", "passes_if_read"), [(0.03, True, True), (0.06, False, True), (0.09, False, False)]
)
def test_scores_may_differ_by_more_where_every_tensor_was_read_back(
    off: float, passes: bool, passes_if_read: bool
) -> None:
    """Four times the mean of the noise, or eight."""
    values = np.ones(3, np.float32)
    weights = bundle_of([-1.0] * 100)
    weights = replace(weights, evidence=replace(weights.evidence, sample=WeightSample({}, {"norm": values})))
    engine, floor = Mute([[-1.0 - off] * 100]), Floor(0.01, 0.02, 0.01)
    engine.read_weights = lambda columns: [ReadBack("norm", "norm", torch.float32, values)]  # type: ignore[method-assign]
    for share, passes_now in ((0.9, passes), (1.0, passes_if_read)):
        engine.read_share = share
        if passes_now:
            assert apply_and_probe(engine, weights, 1.0, floor).mean == pytest.approx(off)
        else:
            with pytest.raises(ProbeFailed, match=f"differ by {off:g} nats on average, where the noise is 0.01"):
                apply_and_probe(engine, weights, 1.0, floor)


def test_a_failed_probe_keeps_its_findings_across_processes() -> None:
    error = pickle.loads(pickle.dumps(ProbeFailed(3, ("one thing", "another; and more"), by_noise=True)))
    assert (type(error), error.version, error.findings) == (ProbeFailed, 3, ("one thing", "another; and more"))
    assert error.by_noise
    assert str(error) == "weights 3: one thing; another; and more"


def test_probe_sequences_fit_and_never_change() -> None:
    assert probe_sequences(64, 512) == probe_sequences(64, 512)
    assert {len(sequence) for sequence in probe_sequences(64, 8)} == {7}
    assert all(0 <= token < 5 for sequence in probe_sequences(5, 512) for token in sequence)


def test_probe_text_is_the_end_of_prompts_and_what_the_policy_says() -> None:
    prompts = [np.arange(start, start + 30, dtype=np.int32) for start in range(0, 1000, 100)]
    asked: list[int] = []

    def proceed(begun: list[list[int]], tokens: int) -> list[list[int]]:
        asked.append(tokens)
        return [[7] * tokens for _ in begun]

    text = probe_text(prompts, proceed, 512, seed=3)
    assert text == probe_text(prompts, proceed, 512, seed=3) != probe_text(prompts, proceed, 512, seed=4)
    assert len(text) == 4 and all(len(line) == 24 and line[12:] == [7] * 12 for line in text)
    assert all(line[:12] == prompts[line[0] // 100][-12:].tolist() for line in text)
    assert {len(line) for line in probe_text(prompts, proceed, 10, seed=3)} == {8}
    assert probe_text([], proceed, 512, seed=3) == probe_text(prompts, proceed, 3, seed=3) == []
    assert asked == [12, 12, 12, 1]


def test_columns_lie_in_every_strip_and_wander() -> None:
    for width in (1, 5, 8, 64, 1000):
        first, second = columns_of(width, 1), columns_of(width, 2)
        assert len(set(first.tolist())) == len(first) and first.min() >= 0 and first.max() < width
        assert first[:FIXED].tolist() == second[:FIXED].tolist()
    strips = {column * FIXED // 1000 for column in columns_of(1000, 1)[:FIXED]}
    assert strips == set(range(FIXED))
    seen = {column for version in range(2000) for column in columns_of(64, version).tolist()}
    assert seen == set(range(64)), "in time all columns are read"
