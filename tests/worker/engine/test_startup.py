"""What starting an engine costs, refuses and leaves behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from trainer_core.support import ARCHITECTURES
from worker.engine import EngineConfig, EngineError, InferenceEngine
from worker.engine.startup import eos_token_ids


def test_importing_the_adapter_imports_neither_vllm_nor_torch() -> None:
    code = "import sys, worker.engine; print(sorted({'vllm', 'torch', 'transformers'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_directory_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"not a model directory: config\.json is missing"):
        InferenceEngine(EngineConfig(model_dir=str(tmp_path)))


@pytest.mark.parametrize(
    ("generation", "config", "expected"),
    [
        ('{"eos_token_id": [4, 5]}', '{"eos_token_id": 1}', (4, 5)),
        ("{}", '{"eos_token_id": 1}', (1,)),
        ("{}", "{}", ()),
    ],
)
def test_end_of_sequence_tokens_come_from_the_model(
    tmp_path: Path, generation: str, config: str, expected: tuple[int, ...]
) -> None:
    (tmp_path / "generation_config.json").write_text(generation)
    (tmp_path / "config.json").write_text(config)
    assert eos_token_ids(str(tmp_path)) == expected


def test_the_process_can_still_set_its_threads(shared_engine: InferenceEngine) -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(before + 1)
        assert torch.get_num_threads() == before + 1
    finally:
        torch.set_num_threads(before)


def test_weight_shapes_are_the_checkpoints(shared_engine: InferenceEngine) -> None:
    shapes = shared_engine.weight_shapes
    assert shapes["model.embed_tokens.weight"] == (60, 128)
    assert shapes["model.layers.0.self_attn.k_proj.weight"] == (64, 128)
    assert "lm_head.weight" not in shapes


def test_nothing_listens_beyond_loopback(
    shared_engine: InferenceEngine, opened_listeners: set[tuple[str, int]]
) -> None:
    assert {ip for ip, _ in opened_listeners} <= {"127.0.0.1", "::1"}


def test_vllm_can_compile_classes_of_transformers_for_another_engine(shared_engine: InferenceEngine) -> None:
    from vllm.model_executor.models.transformers.base import Base

    assert Base._decorate_cls_for_torch_compile.__module__ == Base.__module__


def test_float16_is_refused_where_vllm_refuses_it() -> None:
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES as CLASSES
    from vllm.config.model import _FLOAT16_NOT_SUPPORTED_MODELS

    refused = {CLASSES[kind] for kind in _FLOAT16_NOT_SUPPORTED_MODELS}
    assert {name for name, support in ARCHITECTURES.items() if not support.float16} == refused & ARCHITECTURES.keys()
