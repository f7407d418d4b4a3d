"""The likeliest tokens of every step, as the engine tells them: as in a plain forward pass, across cuts and force."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import Qwen3ForCausalLM

from tests.worker.engine.conftest import Collect
from tests.worker.engine.policies import THINK, VOCAB
from trainer_core.episodes import Group
from worker.engine import Completion, InferenceEngine, Request, Sampling
from worker.messages.chunk import pack, unpack

Policy = tuple[Path, Qwen3ForCausalLM]


def expected(model: Qwen3ForCausalLM, completion: Completion, temperature: float) -> torch.Tensor:
    ids = torch.tensor([[*completion.prompt_ids, *completion.token_ids]])
    with torch.no_grad():
        logits = model(ids).logits[0, len(completion.prompt_ids) - 1 : -1]
    return (logits / temperature).log_softmax(-1)


def check(model: Qwen3ForCausalLM, completion: Completion, temperature: float, k: int) -> None:
    assert completion.top is not None
    assert completion.top.token_ids.shape == completion.top.logprobs.shape == (len(completion.token_ids), k)
    logprobs = expected(model, completion, temperature)
    for step, sampled in enumerate(completion.sampled):
        if not sampled:
            assert not completion.top.token_ids[step].any()
            continue
        np.testing.assert_allclose(completion.top.logprobs[step], logprobs[step].topk(k).values, atol=2e-4)
        own = logprobs[step][torch.from_numpy(completion.top.token_ids[step]).long()]
        np.testing.assert_allclose(completion.top.logprobs[step], own, atol=2e-4)


def test_they_are_those_of_the_policy_at_its_temperature(
    engine: InferenceEngine, collect: Collect, tied_policy: Policy
) -> None:
    engine.submit(Request("asks", (3, 4, 5), Sampling(0.7, max_tokens=20, seed=1, top_logprobs=4)))
    engine.submit(Request("asks more", (3, 9), Sampling(1.0, max_tokens=20, seed=2, top_logprobs=9)))
    engine.submit(Request("does not", (3, 4, 5), Sampling(1.0, max_tokens=20, seed=3)))
    done = collect()
    check(tied_policy[1], done["asks"], 0.7, 4)
    check(tied_policy[1], done["asks more"], 1.0, 9)
    assert done["does not"].top is None
    with pytest.raises(ValueError, match="top_logprobs must be >= 0"):
        Sampling(1.0, top_logprobs=-1)


def test_they_survive_a_cut_and_leave_forced_tokens_out(
    engine: InferenceEngine, collect: Collect, tied_policy: Policy
) -> None:
    sampling = Sampling(0.0, max_tokens=30, thinking_budget=6, top_logprobs=5)
    request = Request("r", (3, 4, *THINK.start_ids), sampling)
    engine.submit(request)
    for _ in range(4):
        assert engine.step() == []
    (partial,) = engine.park()
    assert partial.top is not None and len(partial.top.token_ids) == 4
    engine.submit(replace(request, prefix=partial))
    completion = collect()["r"]
    assert False in completion.sampled
    check(tied_policy[1], completion, 1.0, 5)


def test_more_than_the_vocabulary_is_the_vocabulary(engine: InferenceEngine, collect: Collect) -> None:
    engine.submit(Request("r", (3, 4), Sampling(0.0, max_tokens=3, top_logprobs=VOCAB + 5)))
    top = collect()["r"].top
    assert top is not None and top.token_ids.shape == (3, VOCAB)
    np.testing.assert_allclose(np.exp(top.logprobs).sum(axis=1), 1.0, atol=1e-4)


def test_they_reach_the_trajectories(engine: InferenceEngine, collect: Collect) -> None:
    engine.submit(Request("a", (3, 4), Sampling(0.0, max_tokens=5, top_logprobs=2)))
    engine.submit(Request("b", (3, 9), Sampling(0.0, max_tokens=7)))
    done = collect()
    groups = [Group(name, "s:0", "s", "s@1", {}, "", 0) for name in ("a", "b")]
    prompts = [[np.array(done[name].prompt_ids, np.int32)] for name in ("a", "b")]
    unpack(pack([(0, [done["a"]]), (1, [done["b"]])]), groups, prompts, [0.0, 0.0])
    first, second = (group.trajectories[0] for group in groups)
    assert done["a"].top is not None
    np.testing.assert_array_equal(first.top_ids, done["a"].top.token_ids)
    np.testing.assert_array_equal(first.top_logprobs, done["a"].top.logprobs)
    assert second.top_ids is not None and not second.top_ids.any()
    assert unpacked_without(done["b"]) is None


def unpacked_without(completion: Completion) -> object:
    group = Group("b", "s:0", "s", "s@1", {}, "", 0)
    unpack(pack([(0, [completion])]), [group], [[np.array(completion.prompt_ids, np.int32)]], [0.0])
    return group.trajectories[0].top_ids
