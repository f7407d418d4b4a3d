"""Packed attention beside the formula, and beside the layers of transformers that cap scores or have sinks."""

import copy
import math
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import AutoModelForCausalLM, DeepseekV3Config, Gemma2Config, GptOssConfig

from trainer_core.update.packed import attention, fused, long_segments, segments, tiles
from trainer_core.update.packed.attention import UnsupportedPolicy, packed_attention
from trainer_core.update.packed.segments import Segment, build_layout

HEADS, KV_HEADS, SIZE, VALUE_SIZE = 6, 2, 4, 3
# A prompt of two answers, a prompt of its own, and an answer to the first prompt behind it.
SEGMENTS = (
    Segment(0, 7),
    Segment(7, 12, ((0, 7),)),
    Segment(12, 13),
    Segment(13, 24, ((0, 7),)),
    Segment(24, 26, ((12, 13),)),
    # Two branches of the second sample, one of which branches again.
    Segment(26, 32, ((0, 7), (7, 12))),
    Segment(32, 35, ((0, 7), (7, 12))),
    Segment(35, 37, ((0, 7), (7, 12), (26, 32))),
)
TOKENS = 37
RULES: list[dict[str, Any]] = [
    {},
    {"softcap": 0.7},
    {"s_aux": True},
    {"softcap": 0.7, "s_aux": True, "sliding_window": 3},
    {"s_aux": True, "sliding_window": 1},
    {"softcap": 2.0, "sliding_window": 5},
]


def by_formula(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    runs: Sequence[Segment],
    scale: float,
    sliding_window: int | None = None,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
) -> Tensor:
    """softmax over the keys seen and the sink, of capped scores, times the values; query by query and head by head."""
    rows: dict[int, Tensor] = {}
    for one in runs:
        seen = one.key_rows().tolist()
        for query in range(one.start, one.stop):
            position = seen.index(query)
            first = 0 if sliding_window is None else max(0, position + 1 - sliding_window)
            keys = seen[first : position + 1]
            outputs = []
            for head in range(q.shape[1]):
                group = head // (q.shape[1] // k.shape[1])
                scores = k[keys, group] @ q[query, head] * scale
                if softcap is not None:
                    scores = softcap * torch.tanh(scores / softcap)
                if s_aux is not None:
                    scores = torch.cat([scores, s_aux[head].view(1)])
                weights = torch.exp(scores - torch.logsumexp(scores, 0))
                outputs.append(weights[: len(keys)] @ v[keys, group])
            rows[query] = torch.stack(outputs)
    return torch.stack([rows[query] for query in sorted(rows)])


def inputs(dtype: torch.dtype = torch.float64) -> dict[str, Tensor]:
    made = torch.Generator().manual_seed(0)
    shapes = {"q": (TOKENS, HEADS, SIZE), "k": (TOKENS, KV_HEADS, SIZE), "v": (TOKENS, KV_HEADS, VALUE_SIZE)}
    found = {name: torch.randn(shape, generator=made, dtype=torch.float64) for name, shape in shapes.items()}
    found["s_aux"] = torch.randn(HEADS, generator=made, dtype=torch.float64)
    return {name: tensor.to(dtype).requires_grad_() for name, tensor in found.items()}


def packed(given: dict[str, Tensor], rule: dict[str, Any]) -> Tensor:
    q, k, v = (given[name].transpose(0, 1).unsqueeze(0) for name in "qkv")
    sinks = {"s_aux": given["s_aux"]} if rule.get("s_aux") else {}
    out, weights = packed_attention(
        nn.Identity(), q, k, v, None, layout=build_layout(SEGMENTS), scaling=0.8, **{**rule, **sinks}
    )
    assert weights is None
    return out[0]


@pytest.fixture(params=["plain", "recomputed", "long", "long in small tiles"])
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The way that segments of more than four keys are computed."""
    if request.param == "recomputed":
        monkeypatch.setattr(attention, "MAX_PLAIN_KEYS", 4)
    elif request.param != "plain":
        monkeypatch.setattr(segments, "MAX_MASKED_KEYS", 4)
    if request.param == "long in small tiles":
        monkeypatch.setattr(tiles, "LONGEST_SIDE", 4)
        monkeypatch.setattr(tiles, "SHORTEST_SIDE", 4)
        monkeypatch.setattr(fused, "fits", lambda *_: False)
    return str(request.param)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_values_and_gradients_are_those_of_the_formula(rule: dict[str, Any], path: str) -> None:
    given, other = inputs(), inputs()
    sinks = {"s_aux": other["s_aux"]} if rule.get("s_aux") else {}
    expected = by_formula(other["q"], other["k"], other["v"], SEGMENTS, 0.8, **{**rule, **sinks})
    found = packed(given, rule)
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
    slopes = torch.randn(expected.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    (found * slopes).sum().backward()
    (expected * slopes).sum().backward()
    for name in ("q", "k", "v", *sinks):
        mine, theirs = given[name].grad, other[name].grad
        assert mine is not None and theirs is not None and float(theirs.abs().max()) > 0
        torch.testing.assert_close(mine, theirs, rtol=1e-11, atol=1e-11, msg=name)


def test_the_accelerators_route_computes_the_same_on_a_cpu() -> None:
    given = inputs()
    found = torch.cat([long_segments._by_sdpa(given["q"], given["k"], given["v"], one, 0.8) for one in SEGMENTS])
    expected = by_formula(given["q"], given["k"], given["v"], SEGMENTS, 0.8)
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_narrow_types_round_the_products_alone(dtype: torch.dtype, path: str) -> None:
    rule = RULES[3]
    given = inputs(dtype)
    exact = {name: tensor.detach().double() for name, tensor in given.items()}
    expected = by_formula(exact["q"], exact["k"], exact["v"], SEGMENTS, 0.8, **{**rule, "s_aux": exact["s_aux"]})
    found = packed(given, rule)
    assert found.dtype == dtype
    torch.testing.assert_close(found.double(), expected, rtol=0, atol=6 * torch.finfo(dtype).eps)


def small(config: Any, **sizes: Any) -> Any:
    return config(
        vocab_size=64,
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        **{"num_key_value_heads": 2, "head_dim": 16, **sizes},
    )


ARCHITECTURES = {
    "gemma2": small(Gemma2Config, attn_logit_softcapping=0.5, sliding_window=8, query_pre_attn_scalar=4),
    "gpt_oss": small(GptOssConfig, sliding_window=8, num_local_experts=4, num_experts_per_tok=2),
    "deepseek_v3": small(
        DeepseekV3Config,
        head_dim=4,
        first_k_dense_replace=1,
        num_key_value_heads=4,
        q_lora_rank=16,
        kv_lora_rank=8,
        qk_nope_head_dim=8,
        qk_rope_head_dim=4,
        v_head_dim=6,
        n_routed_experts=4,
        num_experts_per_tok=2,
        n_group=1,
        topk_group=1,
        moe_intermediate_size=16,
    ),
}


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_layers_score_and_learn_as_transformers_own_do(name: str, path: str) -> None:
    """Two samples of one prompt in a packing, beside each alone through the eager attention."""
    torch.manual_seed(0)
    packed_model, eager = (
        AutoModelForCausalLM.from_config(
            copy.deepcopy(ARCHITECTURES[name]), attn_implementation=own, experts_implementation="eager"
        ).double()
        for own in (attention.register(), "eager")
    )
    for parameter in packed_model.parameters():
        nn.init.normal_(parameter, std=0.3)
    eager.load_state_dict(packed_model.state_dict())
    prompt, answers = torch.arange(3, 16), (torch.arange(20, 41), torch.arange(50, 62))
    ids, positions, runs = [prompt], [torch.arange(len(prompt))], [Segment(0, len(prompt))]
    filled = len(prompt)
    for answer in answers:
        ids.append(answer)
        positions.append(torch.arange(len(prompt), len(prompt) + len(answer)))
        runs.append(Segment(filled, filled + len(answer), ((0, len(prompt)),)))
        filled += len(answer)
    found = packed_model(
        input_ids=torch.cat(ids)[None],
        position_ids=torch.cat(positions)[None],
        layout=build_layout(runs),
        use_cache=False,
    ).logits[0]
    expected = [eager(input_ids=torch.cat([prompt, answer])[None], use_cache=False).logits[0] for answer in answers]
    parts = found.split([len(prompt), *map(len, answers)])
    for answer, whole in zip(parts[1:], expected, strict=True):
        torch.testing.assert_close(answer, whole[len(prompt) :], rtol=1e-4, atol=1e-4)
    sum(part.tanh().sum() for part in parts[1:]).backward()
    sum(whole[len(prompt) :].tanh().sum() for whole in expected).backward()
    theirs = dict(eager.named_parameters())
    for weight, parameter in packed_model.named_parameters():
        mine, other = parameter.grad, theirs[weight].grad
        assert (mine is None) == (other is None), weight
        if mine is not None:
            scale = float(other.abs().max())
            assert math.isfinite(scale)
            torch.testing.assert_close(mine, other, rtol=1e-4, atol=1e-4 * scale, msg=weight)


def test_what_is_refused_says_what_to_do() -> None:
    given = inputs()
    with pytest.raises(UnsupportedPolicy, match="set attention_dropout to 0"):
        packed(given, {"dropout": 0.1})
    with pytest.raises(UnsupportedPolicy, match="does not pass its keyword arguments"):
        packed_attention(nn.Identity(), given["q"][None], given["k"][None], given["v"][None], None)
