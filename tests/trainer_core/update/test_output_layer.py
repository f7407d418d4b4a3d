"""The output layer that gives log-probabilities without logits: the same numbers, and policies it leaves alone."""

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    CohereConfig,
    Gemma2Config,
    GraniteConfig,
    PreTrainedModel,
    Qwen3ForCausalLM,
)

from kernels.linear_logprob import reference
from tests.trainer_core.update.making import make_groups
from trainer_core.update.model.logprobs import token_logprobs
from trainer_core.update.model.output_layer import find_fused
from trainer_core.update.model.policy import load_policy, logits, score, use_fused_output
from trainer_core.update.packed import attention
from trainer_core.update.packed.packing import TokenBatch, pack


def batches() -> list[TokenBatch]:
    trajectories = [t for group in make_groups(2, groups=3) for t in group.trajectories]
    for index, trajectory in enumerate(trajectories):
        trajectory.temperature = 0.5 + index / 10
    return pack(trajectories, 16_384)


@pytest.mark.parametrize("kept", [0, 1 << 23])
def test_same_numbers_and_gradients_as_through_logits(
    policy_dir: Path, monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    monkeypatch.setattr(reference, "KEPT_ELEMENTS", kept)
    monkeypatch.setattr(reference, "TILE_ELEMENTS", 500)
    model = load_policy(policy_dir)
    assert find_fused(model) is not None
    (batch,) = batches()
    logprobs, entropies = score(model, batch)
    assert not entropies.requires_grad
    (logprobs * batch.advantages).sum().backward()
    mine = {name: parameter.grad.clone() for name, parameter in model.named_parameters()}
    model.zero_grad()
    expected, expected_entropies = token_logprobs(logits(model, batch), batch.targets, batch.temperature)
    (expected * batch.advantages).sum().backward()
    torch.testing.assert_close(logprobs, expected, atol=1e-5, rtol=0)
    torch.testing.assert_close(entropies, expected_entropies, atol=1e-5, rtol=0)
    for name, parameter in model.named_parameters():
        scale = float(parameter.grad.abs().max())
        torch.testing.assert_close(mine[name], parameter.grad, rtol=1e-4, atol=1e-5 * scale)


def small(config: Any, **settings: Any) -> PreTrainedModel:
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 1}
    model = AutoModelForCausalLM.from_config(
        config(vocab_size=64, **sizes, **heads, **settings), attn_implementation=attention.register()
    )
    torch.nn.init.normal_(model.get_output_embeddings().weight)
    return model


@pytest.mark.parametrize("kept", [0, 1 << 23])
@pytest.mark.parametrize(
    "given",
    [(Gemma2Config, {"final_logit_softcapping": 2.0, "head_dim": 16}), (GraniteConfig, {"logits_scaling": 3.0})],
)
def test_logits_capped_or_scaled_by_the_policy_are_so_in_the_layer(
    given: tuple[Any, dict[str, Any]], kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reference, "KEPT_ELEMENTS", kept)
    model = small(given[0], **given[1])
    before = dict(given[1])
    (batch,) = batches()
    expected, expected_entropies = token_logprobs(logits(model, batch), batch.targets, batch.temperature)
    (expected * batch.advantages).sum().backward()
    theirs = {name: parameter.grad.clone() for name, parameter in model.named_parameters()}
    model.zero_grad()
    assert use_fused_output(model)
    logprobs, entropies = score(model, batch)
    (logprobs * batch.advantages).sum().backward()
    torch.testing.assert_close(logprobs, expected, atol=1e-5, rtol=0)
    torch.testing.assert_close(entropies, expected_entropies, atol=1e-5, rtol=0)
    for name, parameter in model.named_parameters():
        scale = float(theirs[name].abs().max())
        torch.testing.assert_close(parameter.grad, theirs[name], rtol=1e-4, atol=1e-5 * scale)
    assert {name: getattr(model.config, name) for name in before} == before
    torch.testing.assert_close(token_logprobs(logits(model, batch), batch.targets, batch.temperature)[0], expected)


def test_a_policy_that_does_more_to_its_logits_is_left_alone() -> None:
    model = small(CohereConfig, logit_scale=0.05)
    assert not use_fused_output(model)
    assert find_fused(model) is None


def test_a_layer_that_is_asked_answers_logits_again_afterwards(policy_dir: Path) -> None:
    model = load_policy(policy_dir)
    (batch,) = batches()
    plain = Qwen3ForCausalLM.from_pretrained(policy_dir)
    score(model, batch)
    ids = batch.input_ids[:5].unsqueeze(0)
    lone = model.get_output_embeddings()(model.get_input_embeddings()(ids))
    expected = plain.get_output_embeddings()(plain.get_input_embeddings()(ids))
    torch.testing.assert_close(lone, expected)
