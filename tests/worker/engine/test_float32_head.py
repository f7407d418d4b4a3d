"""The float32 head of a bfloat16 engine: nearer to the learner's float32, from the start and after an update."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
import torch
from transformers import Qwen3ForCausalLM

from tests.worker.engine.policies import make_policy, reference_logprobs, start, state
from worker.engine import InferenceEngine, Request, Sampling

SEQUENCES = [[3, 9, 27, 41, 4, 12, 36, 50, 33, 2], list(range(2, 58)) * 3]


def with_large_logits(model: Qwen3ForCausalLM, seed: int) -> Qwen3ForCausalLM:
    """As in trained models: logits share an offset, which no probability depends on, but which costs bits."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        shared = torch.randn(128, generator=generator)
        for embedding, scale in ((model.model.embed_tokens, 1.0), (model.lm_head, 0.3)):
            noise = torch.randn(embedding.weight.shape, generator=generator)
            embedding.weight.copy_(0.05 * noise + scale * shared)
        for layer in model.model.layers:
            layer.self_attn.o_proj.weight.mul_(0.02)
            layer.mlp.down_proj.weight.mul_(0.02)
    return model


def error(engine: InferenceEngine, model: Qwen3ForCausalLM) -> float:
    """Mean difference to a plain float32 forward, in nats."""
    pairs = [
        (ours, theirs)
        for sequence, score in zip(SEQUENCES, engine.score(SEQUENCES), strict=True)
        for ours, theirs in zip(score, reference_logprobs(model, sequence), strict=True)
    ]
    return sum(abs(ours - theirs) for ours, theirs in pairs) / len(pairs)


@pytest.mark.expensive(2, "starts two engines")
@pytest.mark.parametrize("tied", [False, True])
def test_float32_head_is_nearer_to_the_learner(shared_engine: InferenceEngine, tmp_path: Path, tied: bool) -> None:
    first = with_large_logits(make_policy(tmp_path, tied=tied), seed=1)
    first.save_pretrained(tmp_path)
    second = with_large_logits(make_policy(tmp_path / "second", tied=tied), seed=2)
    errors: dict[tuple[str, str], float] = {}
    heads: tuple[Literal["model", "float32"], ...] = ("model", "float32")
    for head in heads:
        engine = start(tmp_path, dtype="bfloat16", lm_head_dtype=head)
        errors[head, "start"] = error(engine, first)
        engine.load_weights(1, state(second))
        errors[head, "update"] = error(engine, second)
        engine.submit(Request("r", (3, 4, 5), Sampling(1.0, max_tokens=8)))
        done = [completion for _ in range(8) for completion in engine.step()]
        assert [len(completion.token_ids) for completion in done] == [8]
    for moment in ("start", "update"):
        assert errors["float32", moment] < errors["model", moment] / 3


def test_float32_head_of_a_float32_model_changes_nothing(
    engine: InferenceEngine, tied_policy: tuple[Path, Qwen3ForCausalLM]
) -> None:
    other = start(tied_policy[0], lm_head_dtype="float32")
    assert other.score(SEQUENCES) == engine.score(SEQUENCES)
