"""Weight updates: right for tied and untied models, refused when wrong, and possible with requests in flight."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import torch
from transformers import Qwen3ForCausalLM

from tests.worker.engine.conftest import Collect
from tests.worker.engine.policies import THINK, perturbed, reference_logprobs, state
from worker.engine import EngineError, InferenceEngine, Request, Sampling, WeightsRefusedError

SEQUENCES = [[3, 9, 27, 41, 4, 12, 36, 50, 33, 2], [5, 6], list(range(2, 58)) * 3]
Policy = tuple[Path, Qwen3ForCausalLM]


def distance(engine: InferenceEngine, model: Qwen3ForCausalLM) -> float:
    """Largest difference between engine and plain forward over the probe sequences."""
    scores = engine.score(SEQUENCES)
    assert [len(score) for score in scores] == [len(sequence) - 1 for sequence in SEQUENCES]
    return max(
        abs(ours - theirs)
        for score, sequence in zip(scores, SEQUENCES, strict=True)
        for ours, theirs in zip(score, reference_logprobs(model, sequence), strict=True)
    )


def test_scores_equal_a_plain_forward(engine: InferenceEngine, tied_policy: Policy) -> None:
    assert distance(engine, tied_policy[1]) < 1e-4


def test_tied_model_serves_new_weights_everywhere(engine: InferenceEngine, tied_policy: Policy) -> None:
    other = perturbed(tied_policy[1])
    assert distance(engine, other) > 0.1
    engine.load_weights(3, state(other))
    assert engine.version == 3
    assert distance(engine, other) < 1e-4


def test_untied_model_serves_new_weights_everywhere(untied_engine: InferenceEngine, untied_policy: Policy) -> None:
    assert distance(untied_engine, untied_policy[1]) < 1e-4
    other = perturbed(untied_policy[1])
    untied_engine.load_weights(1, {name: torch.from_numpy(array) for name, array in state(other).items()})
    assert distance(untied_engine, other) < 1e-4


def test_probe_notices_a_head_that_was_not_packed_again(
    engine: InferenceEngine, tied_policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = perturbed(tied_policy[1])
    head = engine._weights._model.lm_head
    monkeypatch.setattr(type(head.quant_method), "process_weights_after_loading", lambda self, layer: None)
    engine.load_weights(1, state(other))
    assert distance(engine, other) > 0.1
    monkeypatch.undo()
    engine.load_weights(2, state(other))
    assert distance(engine, other) < 1e-4


def test_state_dict_of_a_tied_model_may_repeat_the_head(engine: InferenceEngine, tied_policy: Policy) -> None:
    other = perturbed(tied_policy[1])
    engine.load_weights(1, {name: tensor.detach() for name, tensor in other.state_dict().items()})
    assert distance(engine, other) < 1e-4


def without(name: str, tensors: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {key: value for key, value in tensors.items() if key != name}


NORM = "model.norm.weight"


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda w: without(NORM, w), "missing .'model.norm.weight'."),
        (lambda w: {**w, "model.norm.bias": w[NORM]}, "unknown .'model.norm.bias'."),
        (lambda w: {**w, NORM: w[NORM][:-1]}, r"model.norm.weight has shape \(127,\), the model needs \(128,\)"),
        (lambda w: {**w, NORM: w[NORM] * np.float32("nan")}, "model.norm.weight contains values that are not finite"),
        (lambda w: {**w, "lm_head.weight": w["model.embed_tokens.weight"] + 1}, "ties the two"),
        (lambda w: {**w, NORM: w[NORM].tolist()}, "is a list, not an array or a tensor"),
    ],
)
def test_wrong_weights_are_refused_and_the_old_ones_go_on(
    engine: InferenceEngine, tied_policy: Policy, spoil: object, sentence: str
) -> None:
    assert callable(spoil)
    with pytest.raises(WeightsRefusedError, match=sentence):
        engine.load_weights(9, spoil(state(perturbed(tied_policy[1]))))
    assert engine.version == 0
    assert distance(engine, tied_policy[1]) < 1e-4


def test_half_written_weights_stop_the_engine_until_a_full_load(
    engine: InferenceEngine, tied_policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: object, weights: object) -> None:
        raise OSError("shared memory went away")

    engine.submit(Request("r", (3, 4), Sampling(0.0, max_tokens=4)))
    monkeypatch.setattr(type(engine._weights._model), "load_weights", fail)
    with pytest.raises(EngineError, match="only partly written"):
        engine.load_weights(1, state(tied_policy[1]))
    with pytest.raises(EngineError, match="only partly written"):
        engine.step()
    with pytest.raises(EngineError, match="only partly written"):
        engine.score(SEQUENCES)
    monkeypatch.undo()
    engine.load_weights(2, state(tied_policy[1]))
    assert distance(engine, tied_policy[1]) < 1e-4
    assert engine.has_unfinished


@pytest.mark.parametrize("kv", ["keep", "recompute"])
def test_update_with_requests_in_flight(
    engine: InferenceEngine, collect: Collect, tied_policy: Policy, kv: Literal["keep", "recompute"]
) -> None:
    other = perturbed(tied_policy[1])
    for index in range(6):
        engine.submit(Request(f"r{index}", (3, 4, 5 + index), Sampling(1.0, max_tokens=20)))
    finished = {c.request_id: c for _ in range(8) for c in engine.step()}
    preemptions = engine.stats().preemptions
    running = engine.stats().running
    engine.load_weights(1, state(other), kv=kv)
    assert engine.stats().preemptions - preemptions == (running if kv == "recompute" else 0)
    finished |= collect()
    assert len(finished) == 6
    for completion in finished.values():
        size = len(completion.token_ids)
        assert completion.versions == [0] * min(8, size) + [1] * max(0, size - 8)
        if kv == "recompute":  # every token is exactly what the weights of its version say
            sequence = [*completion.prompt_ids, *completion.token_ids]
            old, new = (reference_logprobs(model, sequence)[2:] for model in (tied_policy[1], other))
            assert completion.logprobs == pytest.approx(old[:8] + new[8:], abs=1e-4)


@pytest.mark.parametrize("kv", ["keep", "recompute"])
def test_update_to_the_same_weights_changes_nothing_but_the_version(
    engine: InferenceEngine, collect: Collect, tied_policy: Policy, kv: Literal["keep", "recompute"]
) -> None:
    """Requests that think, are forced to answer, or cross a KV block (of 128 tokens) around the update."""
    sampling = Sampling(0.0, max_tokens=30)
    requests = [Request(f"r{index}", (3, 4, 5 + index), sampling) for index in range(4)]
    requests += [Request(f"t{b}", (3, *THINK.start_ids), replace(sampling, thinking_budget=b)) for b in (4, 9, 20)]
    requests += [Request(f"b{size}", (3, 4) * size, sampling) for size in (58, 61, 63)]
    for request in requests:
        engine.submit(request)
    expected = collect()
    engine.drop_kv()
    for request in requests:
        engine.submit(request)
    done = {c.request_id: c for _ in range(7) for c in engine.step()}
    sizes = {name: len(live.token_ids) for name, live in engine._live.items()}
    scores = engine.score(SEQUENCES)
    engine.load_weights(1, state(tied_policy[1]), kv=kv)
    assert engine.score(SEQUENCES) == scores
    done |= collect()
    assert len(done) == len(requests)
    for name, completion in done.items():
        whole, cut = expected[name], sizes.get(name, len(completion.token_ids))
        assert completion.token_ids == whole.token_ids
        assert (completion.sampled, completion.finish_reason) == (whole.sampled, whole.finish_reason)
        assert completion.logprobs == pytest.approx(whole.logprobs, abs=1e-4)
        assert completion.versions == [0] * cut + [1] * (len(completion.token_ids) - cut)


def test_kept_cache_goes_on_without_prefill(engine: InferenceEngine, tied_policy: Policy) -> None:
    for index in range(6):
        engine.submit(Request(f"r{index}", (3, 4, 5 + index), Sampling(1.0, max_tokens=20)))
    engine.step()
    before = engine.stats()
    engine.load_weights(1, state(perturbed(tied_policy[1])), kv="keep")
    engine.score(SEQUENCES)
    after = engine.stats()
    assert (after.preemptions, after.running, after.kv_usage) == (before.preemptions, before.running, before.kv_usage)
    assert after.running_tokens == before.running_tokens == 4 * before.running


def test_version_that_comes_back_never_reads_older_prefixes(
    engine: InferenceEngine, collect: Collect, tied_policy: Policy
) -> None:
    """Rolled back and forth under one number, the weights differ all the same."""
    prompt = tuple([7, 8, 9, 10] * 40)
    engine.submit(Request("old", prompt, Sampling(1.0, max_tokens=1)))
    collect()
    other = perturbed(tied_policy[1])
    engine.load_weights(0, state(other), kv="keep")
    engine.submit(Request("new", prompt, Sampling(1.0, max_tokens=1)))
    completion = collect()["new"]
    engine.version = -1  # the fixture restores the first weights
    expected = reference_logprobs(other, [*prompt, *completion.token_ids])[-1]
    assert completion.logprobs == pytest.approx([expected], abs=1e-4)


def test_a_new_version_never_reads_the_prefixes_of_an_old_one(
    engine: InferenceEngine, collect: Collect, tied_policy: Policy
) -> None:
    prompt = tuple([7, 8, 9, 10] * 40)  # longer than a KV block, so it is cached
    engine.submit(Request("old", prompt, Sampling(1.0, max_tokens=1)))
    collect()
    other = perturbed(tied_policy[1])
    engine.load_weights(1, state(other), kv="keep")
    engine.submit(Request("new", prompt, Sampling(1.0, max_tokens=1)))
    completion = collect()["new"]
    expected = reference_logprobs(other, [*prompt, *completion.token_ids])[-1]
    assert completion.logprobs == pytest.approx([expected], abs=1e-4)


def test_scoring_does_not_advance_requests_in_flight(engine: InferenceEngine, collect: Collect) -> None:
    for index in range(40):  # more than run at once: scoring must set waiting requests aside too
        engine.submit(Request(f"r{index}", (3, 4, 5 + index % 40), Sampling(0.0, max_tokens=12)))
    done = {c.request_id: c for _ in range(4) for c in engine.step()}
    before = engine.stats()
    first = engine.score(SEQUENCES)
    after = engine.stats()
    assert (after.running, after.waiting, after.generated_tokens) == (
        before.running,
        before.waiting,
        before.generated_tokens,
    )
    done |= collect()
    assert len(done) == 40
    for index in range(40):
        engine.submit(Request(f"r{index}", (3, 4, 5 + index % 40), Sampling(0.0, max_tokens=12)))
    assert {key: c.token_ids for key, c in collect().items()} == {key: c.token_ids for key, c in done.items()}
    assert engine.score(SEQUENCES) == first


@pytest.mark.parametrize("length", [1, 256])
def test_sequences_that_cannot_be_scored_are_refused(engine: InferenceEngine, length: int) -> None:
    with pytest.raises(EngineError, match="can score 2 to 255 tokens"):
        engine.score([[3] * length])
