"""Refusals of policies: each names what is wrong and a way out, and nothing that trains is refused."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from tests.trainer_core.specs import spec
from trainer_core.spec import RunSpec
from trainer_core.starter.architectures import ARCHITECTURES as TINY
from trainer_core.support import ARCHITECTURES, objections, refusal, support_of
from trainer_core.support.context_parallel import of_context

QWEN = {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "max_position_embeddings": 4096}


def config(name: str, **parts: Any) -> dict[str, Any]:
    return {**QWEN, "architectures": [name], **parts}


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_what_trains_is_not_refused(name: str) -> None:
    assert refusal(config(name), spec()) is None


@pytest.mark.parametrize(
    ("given", "ranks", "sentence"),
    [
        (
            {"num_attention_heads": 6},
            4,
            "4 ranks cannot divide 6 attention heads evenly: set parallelism.context_parallel_size to one of 1, 2, "
            "3, 6.",
        ),
        (
            {"layer_types": ["linear_attention", "full_attention"], "model_type": "minimax"},
            2,
            "The policy has layers of linear attention, which pass a state from token to token but not from rank to "
            "rank: set parallelism.context_parallel_size to 1.",
        ),
        (
            {"num_attention_heads": 8, "rope_scaling": {"type": "dynamic", "factor": 2.0}},
            2,
            "The policy's rotary positions of the kind dynamic depend on the longest position that a rank sees, which "
            "differs between context-parallel ranks: set parallelism.context_parallel_size to 1.",
        ),
        (
            {"model_type": "phi3", "rope_scaling": {"type": "su", "long_factor": [1.0], "short_factor": [1.0]}},
            2,
            "The policy's rotary positions of the kind su depend on the longest position that a rank sees, which "
            "differs between context-parallel ranks: set parallelism.context_parallel_size to 1.",
        ),
        (
            {"model_type": "phi3", "rope_scaling": {"type": "yarn", "long_factor": [1.0], "short_factor": [1.0]}},
            2,
            "The policy's rotary positions of the kind yarn depend on the longest position that a rank sees, which "
            "differs between context-parallel ranks: set parallelism.context_parallel_size to 1.",
        ),
        (
            {"rope_parameters": {"full_attention": {"rope_type": "longrope"}, "sliding_attention": None}},
            2,
            "The policy's rotary positions of the kind longrope depend on the longest position that a rank sees, which "
            "differs between context-parallel ranks: set parallelism.context_parallel_size to 1.",
        ),
    ],
)
def test_tokens_that_ranks_cannot_share_out(given: dict[str, Any], ranks: int, sentence: str) -> None:
    policy = config("Qwen3ForCausalLM", **given)
    asked = spec(parallelism={"learner_ranks": ranks, "context_parallel_size": ranks})
    field = ("parallelism", "context_parallel_size")
    assert list(of_context(policy, ranks)) == [(field, sentence)]
    assert (field, sentence) in list(objections(policy, asked))
    assert list(of_context(policy, 1)) == []


def test_ranks_share_out_fewer_key_heads_than_they_are() -> None:
    policy = config("Qwen3ForCausalLM", num_attention_heads=8, num_key_value_heads=2, rope_scaling={"type": "yarn"})
    assert list(of_context(policy, 8)) == []


def test_an_architecture_that_was_never_tried_is_not_refused() -> None:
    unknown = config("Ernie4_5ForCausalLM", model_type="ernie4_5")
    assert refusal(unknown, spec()) is None
    assert support_of(unknown) is None


@pytest.mark.parametrize(
    ("given", "says", "way_out"),
    [
        (config("Gemma3ForConditionalGeneration"), "processes images or sound", "text part as Gemma3ForCausalLM"),
        (config("Qwen3ForCausalLM", vision_config={}), "processes images or sound", "choose one of Llama 3"),
        (config("Qwen2_5_VLForConditionalGeneration"), "trained here: choose", "Qwen 2.5 (Qwen2ForCausalLM)"),
        (config("Qwen3VLMoeForConditionalGeneration"), "trained here: choose", "(Qwen3MoeForCausalLM)"),
        (config("MllamaForConditionalGeneration"), "trained here: choose", "(LlamaForCausalLM)"),
        (config("LlavaForConditionalGeneration", text_config={"model_type": "qwen2"}), "here: choose", "one of Llama"),
        (config("T5ForX", is_encoder_decoder=True), "has an encoder", "choose one of Llama 3"),
        (config("Qwen3ForSequenceClassification"), "generates no text", "use it as a reward model"),
        (config("BertModel"), "is not a language model that generates text", "choose one of Llama 3"),
        (config("Qwen3NextForCausalLM"), "recurrent layers", "choose a policy of Qwen 3 MoE (Qwen3MoeForCausalLM)"),
        (config("StableLmForCausalLM"), "cannot be replaced", "choose a policy of Llama 3, SmolLM 2"),
        (config("Llama4ForCausalLM", layer_types=["chunked_attention"]), "chunked_attention", "choose a policy"),
        (config("GptOssForCausalLM", quantization_config={"quant_method": "mxfp4"}), "in mxfp4", "Mxfp4Config(dequan"),
        (config("GptOssForCausalLM", model_type="gpt_oss", swiglu_limit=5.0), "swiglu_limit = 5.0", "published"),
        (config("GptOssForCausalLM", model_type="gpt_oss", layer_types=["full_attention"]), "windows", "published"),
        (config("LlamaForCausalLM", quantization_config={"quant_method": "awq"}), "in awq", "own version in bfloat16."),
        ({}, "names no architecture", "write the model's class"),
        (config("MadeUpForCausalLM"), "is unknown to both transformers 5.19.0 and vLLM", "choose one of Llama"),
        (config("Qwen4ForCausalLM"), "code shipped with a model is never run", "is Qwen3ForCausalLM: if its"),
        (config("LLaMAForCausalLM"), "is unknown to transformers 5.19.0, and", "know is LlamaForCausalLM"),
        (config("GPTNeoXJapaneseLMHeadModel"), "cannot be replaced", "choose one of"),
        (config("BertLMHeadModel"), "is unknown to vLLM 0.32.0, and", "see docs/architectures.md for what works"),
        (config("LlamaForCausalLM", model_type="lama"), "has the model_type 'lama'", "write the one of other Llama"),
    ],
)  # fmt: skip
def test_a_policy_that_cannot_train_is_told_the_way_out(given: dict[str, Any], says: str, way_out: str) -> None:
    for sentence in (refusal(given), refusal(given, spec())):
        assert sentence is not None
        assert says in sentence
        assert way_out in sentence


LORA = {"type": "lora", "target_modules": ["o_proj", "q_proj"]}


@pytest.mark.parametrize(
    ("given", "parts", "pointer", "way_out"),
    [
        (
            {**QWEN, "max_position_embeddings": 200},
            {},
            ("rollout", "engine", "max_model_len"),
            "set rollout.engine.max_model_len to 200 or less",
        ),
        (
            config("Gemma2ForCausalLM"),
            {"rollout": {"engine": {"dtype": "float16"}}},
            ("rollout", "engine", "dtype"),
            "to bfloat16 or float32",
        ),
        (
            config("Phi3ForCausalLM"),
            {"policy": {"base": "p", "adapter": LORA}},
            ("policy", "adapter", "target_modules", 1),
            "has no linear layer 'q_proj': it has qkv_proj, o_proj, gate_up_proj, down_proj",
        ),
        (
            QWEN,
            {"policy": {"base": "p", "routing": {"replay": True}}},
            ("policy", "routing", "replay"),
            "set policy.routing.replay to false",
        ),
        (
            QWEN,
            {"policy": {"base": "p", "routing": {"balance": {"type": "loss_free"}}}},
            ("policy", "routing", "balance"),
            "set policy.routing.balance.type to none",
        ),
        (
            config("MixtralForCausalLM"),
            {"policy": {"base": "p", "routing": {"balance": {"type": "loss_free"}}}},
            ("policy", "routing", "balance"),
            "set policy.routing.balance.type to auxiliary_loss",
        ),
    ],
)
def test_a_spec_that_a_policy_cannot_do_is_told_the_field(
    given: dict[str, Any], parts: dict[str, Any], pointer: tuple[str | int, ...], way_out: str
) -> None:
    [(path, sentence)] = objections(given, spec(**parts))
    assert path == pointer
    assert way_out in sentence


def of_rows(tokens: int, **policy: Any) -> RunSpec:
    """A run that learns from rows of so many tokens."""
    data = {"sources": [{"name": "a", "dataset": "rows@1"}]}
    policy = {"base": "p", **policy}
    return RunSpec.model_validate({"policy": policy, "data": data, "objective": {"type": "sft", "max_tokens": tokens}})


def test_a_run_that_learns_from_rows_is_asked_for_its_own_length_and_no_engine() -> None:
    """The default of an engine's longest sequence is more than the policy's positions."""
    short = {**QWEN, "max_position_embeddings": 200}
    assert refusal(short, of_rows(200)) is None
    [(path, sentence)] = objections(short, of_rows(201))
    assert path == ("objective", "max_tokens")
    assert "set objective.max_tokens to 200 or less" in sentence
    adapted = of_rows(200, adapter={"type": "lora", "target_modules": ["qkv_proj"]})
    assert [path for path, _ in objections(QWEN, adapted)] == [("policy", "adapter", "target_modules", 0)]


def test_positions_that_rotary_scaling_adds_count() -> None:
    scaled = {**QWEN, "max_position_embeddings": 256}
    assert refusal({**scaled, "rope_parameters": {"rope_type": "linear", "factor": 8.0}}, spec()) is None
    assert refusal({**scaled, "rope_scaling": {"type": "yarn", "factor": 8.0}}, spec()) is not None


def test_nobody_is_kept_from_what_was_never_tried() -> None:
    untried = [name for name, support in ARCHITECTURES.items() if not support.policies]
    assert untried == ["MiniMaxForCausalLM"]
    assert ARCHITECTURES["MiniMaxForCausalLM"].bfloat16 is None
    wanted = spec(policy={"base": "p", "dtype": "bfloat16"}, rollout={"engine": {"dtype": "bfloat16"}})
    assert refusal(config("MiniMaxForCausalLM"), wanted) is None


def test_the_table_names_every_tiny_policy_once() -> None:
    named = {one: name for name, support in ARCHITECTURES.items() for one in support.policies}
    assert named == {name: tiny.model for name, tiny in TINY.items()}


def test_it_needs_no_torch() -> None:
    code = "import sys, trainer_core.support; sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
