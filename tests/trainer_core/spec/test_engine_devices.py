"""Engines of several devices: what cannot be is refused in words, with the field and the way out."""

from typing import Any

import pytest
from pydantic import ValidationError

from tests.trainer_core.specs import spec
from trainer_core.spec import RunSpec
from trainer_core.support import objections

LLAMA: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "num_hidden_layers": 32,
    "intermediate_size": 14_336,
    "vocab_size": 128_256,
}
MOE = {**LLAMA, "architectures": ["Qwen3MoeForCausalLM"], "num_experts": 8, "moe_intermediate_size": 768}
MINIMAX = {**LLAMA, "architectures": ["MiniMaxForCausalLM"], "model_type": "minimax"}


def asked(**engine: Any) -> RunSpec:
    return spec(rollout={"engine": engine})


def told(config: dict[str, Any], **engine: Any) -> list[tuple[str, str]]:
    return [(str(path[-1]), sentence) for path, sentence in objections(config, asked(**engine))]


@pytest.mark.parametrize(
    ("engine", "parts", "field", "says"),
    [
        ({"expert_parallel": True}, {}, "expert_parallel", "the devices of tensor_parallel_size, and there is one"),
        ({"tensor_parallel_size": 2, "speculation": "tail"}, {}, "speculation", "speculation needs an engine of one"),
        ({"pipeline_parallel_size": 2, "quantization": {"type": "fp8"}}, {}, "quantization", "FP8 needs an engine of"),
        ({"tensor_parallel_size": 2}, {"routing": {"replay": True}}, "replay", "set policy.routing.replay to false"),
    ],
)
def test_parts_of_engines_of_one_device_are_refused(
    engine: dict[str, Any], parts: dict[str, Any], field: str, says: str
) -> None:
    with pytest.raises(ValidationError) as refused:
        spec(rollout={"engine": engine}, policy={"base": "tiny", **parts})
    found = {str(error["loc"][-1]): error["msg"] for error in refused.value.errors()}
    assert list(found) == [field]
    assert says in found[field]


@pytest.mark.parametrize(
    ("config", "engine"),
    [
        (LLAMA, {"tensor_parallel_size": 8, "pipeline_parallel_size": 4}),
        (LLAMA, {"tensor_parallel_size": 16}),  # each of the 8 key-value heads on two devices
        (MOE, {"tensor_parallel_size": 4, "expert_parallel": True}),
        ({"architectures": ["Ernie4_5ForCausalLM"]}, {"tensor_parallel_size": 4}),  # sizes that are not told
        (MINIMAX, {}),
    ],
)
def test_what_can_be_shared_out_is_not_refused(config: dict[str, Any], engine: dict[str, Any]) -> None:
    assert told(config, **engine) == []


@pytest.mark.parametrize(
    ("config", "engine", "field", "says"),
    [
        (LLAMA, {"tensor_parallel_size": 3}, "tensor_parallel_size", "3 devices cannot split 32 attention heads"),
        (LLAMA, {"tensor_parallel_size": 3}, "tensor_parallel_size", "to 1, 2, 4, 8, 16 or 32."),
        (
            {**LLAMA, "num_attention_heads": 12, "num_key_value_heads": 4, "vocab_size": 192},
            {"tensor_parallel_size": 6},
            "tensor_parallel_size",
            "6 devices cannot split 4 key-value heads evenly",
        ),
        ({**LLAMA, "intermediate_size": 86}, {"tensor_parallel_size": 4}, "tensor_parallel_size", "1 or 2."),
        (
            {
                **LLAMA,
                "num_attention_heads": 9,
                "num_key_value_heads": 3,
                "intermediate_size": 1536,
                "vocab_size": 128_000,
            },
            {"tensor_parallel_size": 3},
            "tensor_parallel_size",
            "a vocabulary of 128000 tokens, padded to a multiple of 64, evenly: set",
        ),
        ({**MOE, "moe_intermediate_size": 6}, {"tensor_parallel_size": 4}, "tensor_parallel_size", "6 values (moe_"),
        (LLAMA, {"pipeline_parallel_size": 33}, "pipeline_parallel_size", "has 32 layers, and 33 stages"),
        (
            LLAMA,
            {"tensor_parallel_size": 2, "expert_parallel": True},
            "expert_parallel",
            "The policy has no experts to distribute: set rollout.engine.expert_parallel to false.",
        ),
        (MINIMAX, {"tensor_parallel_size": 2}, "tensor_parallel_size", "cannot split MiniMax-Text-01, MiniMax-M1"),
        (MINIMAX, {"pipeline_parallel_size": 2}, "pipeline_parallel_size", "MiniMax-M1 into stages"),
    ],
)
def test_what_cannot_be_shared_out_is_told_with_the_way_out(
    config: dict[str, Any], engine: dict[str, Any], field: str, says: str
) -> None:
    found = told(config, **engine)
    assert [name for name, _ in found] == [field]
    assert says in found[0][1]


def test_whole_experts_need_no_even_cut() -> None:
    assert told({**MOE, "moe_intermediate_size": 6}, tensor_parallel_size=4, expert_parallel=True) == []
