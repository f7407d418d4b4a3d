"""FP8 by the card's own matrix products, beside a learner whose flow rounds as they do.

What is simulated on a CPU is tested in ``tests/worker/engine/test_engine_precision.py``.
"""

from pathlib import Path
from typing import Any, Literal

import pytest
import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

from tests.support.alone import alone
from tests.trainer_core.update.making import make_spec
from tests.worker.engine.test_graphs import assert_samples_by_its_weights
from worker.engine import EngineConfig, Fp8Config, InferenceEngine
from worker.engine.fp8 import execution, refusal
from worker.learner.probe.check import apply_and_probe
from worker.learner.probe.sequences import probe_sequences
from worker.learner.weights import bundle

VOCABULARY = 256
Scales = Literal["block", "channel"]


def make(folder: Path) -> None:
    """A random Qwen3 whose matrices are whole blocks of FP8's scales."""
    torch.manual_seed(7)
    config = Qwen3Config(
        vocab_size=VOCABULARY, hidden_size=256, intermediate_size=512, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, head_dim=64, max_position_embeddings=256, tie_word_embeddings=True,
        initializer_range=0.05, bos_token_id=None, eos_token_id=1, pad_token_id=0,
    )  # fmt: skip
    Qwen3ForCausalLM(config).save_pretrained(folder)


def probed(folder: Path, scales: Scales) -> dict[str, Any]:
    """What the probe finds of the first weights and of updated ones, under a unified learner."""
    from trainer_core.update.learner import Learner

    quantization = {"quantization": {"type": "fp8", "scales": scales}, "dtype": "bfloat16"}
    spec = make_spec(
        precision={"type": "unified"},
        policy={"base": "tiny", "dtype": "bfloat16"},
        rollout={"group_size": 4, "max_tokens": 60, "engine": {"max_model_len": 128, **quantization}},
    )
    config = EngineConfig(
        str(folder),
        max_model_len=128,
        max_num_seqs=16,
        max_num_batched_tokens=256,
        kv_cache_gib=0.05,
        dtype="bfloat16",
        fp8=Fp8Config(scales, execution="hardware"),
    )
    learner = Learner(folder, spec, device="cuda")
    probes = probe_sequences(VOCABULARY, 128)
    with InferenceEngine(config) as engine:
        largest = [apply_and_probe(engine, bundle(learner, probes), spec.rollout.engine.tolerance).largest]
        with torch.no_grad():
            for parameter in learner._parts.model.parameters():
                parameter.mul_(1.1)
        largest.append(apply_and_probe(engine, bundle(learner, probes), spec.rollout.engine.tolerance).largest)
        assert_samples_by_its_weights(engine, tolerance=spec.rollout.engine.tolerance)
        simulated = engine.stats().fp8_simulated
    return {"way": execution(config), "simulated": simulated, "largest": largest}


@pytest.mark.parametrize("scales", ["block", "channel"])
def test_the_probe_passes_an_engine_in_fp8(scales: Scales, tmp_path: Path) -> None:
    if (reason := refusal(Fp8Config(scales), "bfloat16")) is not None:
        pytest.skip(f"FP8 by hardware needs {reason}")
    make(tmp_path)
    found = alone(probed, tmp_path, scales)
    assert (found["way"], found["simulated"]) == ("hardware", False)
    assert len(found["largest"]) == 2
