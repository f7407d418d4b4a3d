"""Mixtures of experts in the engine: the log-probabilities of transformers' own forward pass, whatever is loaded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import PreTrainedModel

from tests.support.about import TRAINING
from tests.support.expert_groups import make_group_of_experts
from tests.worker.engine.expert_faults import FIRST, SECOND, faults, found_by_reading, one_matrix, parts_of
from tests.worker.engine.mixtures import drawn, files, largest_difference, make_mixture, own_logprobs
from trainer_core.starter.architectures import make_tiny
from worker.engine import EngineConfig, InferenceEngine

TOLERANCE = 1e-3
SEQUENCES = drawn([3, 40, 100])
"""The longest takes several steps of 64 tokens, and is longer than every window."""
YARN = {
    "rope_type": "yarn",
    "rope_theta": 10_000.0,
    "factor": 4.0,
    "beta_fast": 32.0,
    "beta_slow": 1.0,
    "mscale": 1.0,
    "mscale_all_dim": 0.7,
    "original_max_position_embeddings": 64,
}
MIXTURES: dict[str, tuple[str, dict[str, Any]]] = {
    "qwen3_moe": ("qwen3_moe", {}),
    # 48 is no multiple of the kernel's 32: its weights are padded when they are packed.
    "qwen3_moe, padded and tied": ("qwen3_moe", {"moe_intermediate_size": 48, "tie_word_embeddings": True}),
    # Sizes that vLLM's kernel does not take.
    "mixtral, plain": ("mixtral", {"hidden_size": 80}),
    "gpt_oss, plain": ("gpt_oss", {"intermediate_size": 48}),
    "mixtral": ("mixtral", {}),
    "gpt_oss, tied": ("gpt_oss", {"tie_word_embeddings": True}),
    "deepseek_v2": ("deepseek_v2", {"n_group": None, "topk_group": None}),
    "deepseek_v2, grouped": (
        "deepseek_v2",
        {"n_group": 4, "topk_group": 1, "topk_method": "group_limited_greedy", "norm_topk_prob": True},
    ),
    "deepseek_v3, long and tied": (
        "deepseek_v3",
        {"n_group": 4, "topk_group": 2, "rope_parameters": YARN, "tie_word_embeddings": True},
    ),
}

Mixture = tuple[InferenceEngine, list[Path], list[list[torch.Tensor]]]


def start(folder: Path, dtype: str = "float32", **options: Any) -> InferenceEngine:
    make_group_of_experts()
    return InferenceEngine(
        EngineConfig(
            str(folder),
            max_model_len=192,
            max_num_seqs=16,
            max_num_batched_tokens=64,
            kv_cache_gib=0.02,
            stop_at_eos=False,
            dtype=dtype,
            **options,
        )
    )


def scores_of(model: PreTrainedModel) -> list[torch.Tensor]:
    return [own_logprobs(model, sequence) for sequence in SEQUENCES]


@pytest.fixture(scope="module", params=MIXTURES)
def mixture(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, shared_engine: InferenceEngine
) -> Iterator[Mixture]:
    """An engine that has started with the first of two policies that have nothing in common but their shapes."""
    name, settings = MIXTURES[request.param]
    folders = [tmp_path_factory.mktemp(f"{name}-{number}") for number in (0, 1)]
    scores = [scores_of(make_mixture(name, folder, seed=seed, **settings)) for seed, folder in enumerate(folders)]
    assert largest_difference([mine.tolist() for mine in scores[0]], scores[1]) > 1
    yield start(folders[0]), folders, scores


def test_scores_are_exact_from_the_start_and_after_each_update(mixture: Mixture) -> None:
    engine, folders, expected = mixture
    assert largest_difference(engine.score(SEQUENCES), expected[0]) < TOLERANCE
    for version, number in enumerate((1, 0), start=1):
        engine.load_weights(version, files(folders[number]))
        assert largest_difference(engine.score(SEQUENCES), expected[number]) < TOLERANCE


def test_one_expert_of_the_last_version_is_seen_in_the_scores(mixture: Mixture) -> None:
    engine, folders, expected = mixture
    old, new = (files(folder) for folder in folders)
    stale = {name: value.copy() for name, value in new.items() if ".layers.1." in name and ".experts." in name}
    assert stale
    for name, value in stale.items():
        if ".experts.1." in name:
            value[:] = old[name]
        elif ".experts.gate_up_proj" in name or ".experts.down_proj" in name:
            value[1] = old[name][1]
    engine.load_weights(3, {**new, **stale})
    assert largest_difference(engine.score(SEQUENCES), expected[1]) > 10 * TOLERANCE
    engine.load_weights(4, new)
    assert largest_difference(engine.score(SEQUENCES), expected[1]) < TOLERANCE


def test_every_weight_is_read_back_and_a_fault_of_one_expert_is_named(mixture: Mixture) -> None:
    engine, folders, _ = mixture
    assert_faults_are_named(engine, *(tensors(folder) for folder in folders))


@pytest.mark.expensive(
    2,
    "builds an engine",
    about=TRAINING,
)
@pytest.mark.parametrize("name", ["qwen3_moe", "mixtral", "gpt_oss", "deepseek_v3"])
def test_faults_of_experts_are_named_in_bfloat16(name: str, tmp_path: Path, shared_engine: InferenceEngine) -> None:
    for number in (0, 1):
        make_tiny(name, tmp_path / str(number), seed=number)
    assert_faults_are_named(start(tmp_path / "0", "bfloat16"), *(tensors(tmp_path / str(n)) for n in (0, 1)))


def tensors(folder: Path) -> dict[str, torch.Tensor]:
    return {name: torch.from_numpy(value) for name, value in files(folder).items()}


def assert_faults_are_named(
    engine: InferenceEngine, old: dict[str, torch.Tensor], new: dict[str, torch.Tensor]
) -> None:
    """The engine has begun with ``old``."""
    assert (engine._weights.reader.unread, engine.read_share) == ([], 1.0)
    assert found_by_reading(engine, old, new, new, 2) == []
    matrix, expert = one_matrix(new), set(parts_of(new, SECOND))
    for fault in faults():
        found = found_by_reading(engine, old, new, fault.change(old, new), 2)
        names = {one.name for one in found}
        if fault.name == "two experts swapped":
            assert names == expert | set(parts_of(new, FIRST))
            assert {one.owner for one in found if one.owner} >= {matrix}
        elif fault.name == "an expert of the last version":
            assert names == expert
            assert {one.stale for one in found if one.sampled == one.differing} == {1}
        else:
            assert names == {matrix}, fault.name
    assert found_by_reading(engine, old, new, new, 2) == []


def test_layers_that_predict_further_tokens_are_no_weights(tmp_path: Path, shared_engine: InferenceEngine) -> None:
    """DeepSeek-V3's published files hold one; nobody here computes it, and no update brings it."""
    model = make_mixture("deepseek_v3", tmp_path, seed=0, num_nextn_predict_layers=1)
    extra = f"model.layers.{model.config.num_hidden_layers}.eh_proj.weight"
    [path] = tmp_path.glob("*.safetensors")
    save_file({**load_file(path), extra: torch.ones(2, 2)}, path, metadata={"format": "pt"})
    engine, sent = start(tmp_path), files(tmp_path)
    assert engine.weight_shapes.keys() == sent.keys()
    assert extra not in sent
    engine.load_weights(1, sent)
    assert largest_difference(engine.score(SEQUENCES), scores_of(model)) < TOLERANCE
