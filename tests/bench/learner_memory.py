"""The memory that the planner predicts of a learner, beside the peak of a real update step in a process of its own.

The process gives large blocks back to the system as soon as they are free, so that its high-water mark is that of the
step and not that of the allocator.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.bench.report import Figure

ROOT = Path(__file__).resolve().parents[2]
VOCABULARY, PROMPT = 512, 16
DENSE: dict[str, Any] = {
    "model_type": "qwen3",
    "vocab_size": VOCABULARY,
    "tie_word_embeddings": True,
    "hidden_size": 256,
    "intermediate_size": 768,
    "num_hidden_layers": 6,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 32,
    "max_position_embeddings": 131072,
    "pad_token_id": None,
    "bos_token_id": None,
    "eos_token_id": None,
}
TINY = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2}
NARROW = {"sizes": {**TINY, "num_key_value_heads": 1}, "samples": 1, "batches": 1}
LARGE_HEAD: dict[str, Any] = {
    "samples": 4,
    "length": 700,
    "batches": 1,
    "sizes": {**TINY, "num_key_value_heads": 1, "vocab_size": 16_384},
}
RECOMPUTED = {"policy": {"gradient_checkpointing": True}}
SHARED = {"ranks": 2, "context": 2}
BFLOAT16 = {"policy": {"dtype": "bfloat16"}}
LATENT = {
    "model_type": "deepseek_v3",
    "head_dim": 16,
    "num_key_value_heads": 8,
    "q_lora_rank": 96,
    "kv_lora_rank": 64,
    "qk_nope_head_dim": 32,
    "qk_rope_head_dim": 16,
    "v_head_dim": 32,
    "n_routed_experts": 8,
    "num_experts_per_tok": 2,
    "n_group": 1,
    "topk_group": 1,
    "first_k_dense_replace": 1,
    "moe_intermediate_size": 256,
}
SHAPES: dict[str, dict[str, Any]] = {
    "4 short sequences": {"samples": 4, "length": 200},
    "the same in one micro-batch": {"samples": 4, "length": 200, "batches": 1},
    "a long sequence": {"samples": 1, "length": 2000},
    "checkpointed": {"samples": 8, "length": 200, "policy": {"gradient_checkpointing": True}},
    "LoRA and its reference": {
        "samples": 8,
        "length": 200,
        "policy": {"adapter": {"type": "lora", "rank": 8}},
        "kl": {"coefficient": 0.1},
    },
    "reference, ZeRO 2": {"samples": 4, "length": 200, "kl": {"coefficient": 0.1}, "zero_stage": 2},
    "8-bit moments": {"samples": 4, "length": 200, "optimizer": {"moment_bits": 8}},
    "8,192 tokens": {"samples": 1, "length": 8192 - PROMPT + 1, "batches": 1},
    "8,192 tokens, checkpointed": {"samples": 1, "length": 8192 - PROMPT + 1, "batches": 1, **RECOMPUTED},
    "mixture": {
        "samples": 4,
        "length": 500,
        "sizes": {
            "model_type": "qwen3_moe",
            "num_experts": 8,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": 256,
        },
    },
    "multi-head latent attention": {
        "samples": 2,
        "length": 1500,
        "sizes": LATENT,
    },
    "windows": {
        "samples": 1,
        "length": 2000,
        "sizes": {"model_type": "gemma3_text", "sliding_window": 256, "query_pre_attn_scalar": 32},
    },
    "attention sinks": {
        "samples": 2,
        "length": 1500,
        "sizes": {
            "model_type": "gpt_oss",
            "sliding_window": 128,
            "num_local_experts": 8,
            "num_experts_per_tok": 2,
            "intermediate_size": 256,
        },
    },
    "bfloat16": {"samples": 1, "length": 2000, **BFLOAT16},
    "capped scores": {
        "samples": 1,
        "length": 3000,
        "sizes": {"model_type": "gemma2", "sliding_window": 256, "query_pre_attn_scalar": 32},
    },
    "whole logits, entropy bonus": {**LARGE_HEAD, "entropy": {"type": "fixed", "coefficient": 0.01}},
    "whole logits, likeliest tokens": {**LARGE_HEAD, "loss": {"type": "ppo_clip", "smoothing": {}}},
    "whole logits, both": {
        **LARGE_HEAD,
        "entropy": {"type": "fixed", "coefficient": 0.01},
        "loss": {"type": "ppo_clip", "smoothing": {}},
    },
    "32,768 tokens, checkpointed": {**NARROW, "length": 32768 - PROMPT + 1, **RECOMPUTED},
    "80,000 tokens, checkpointed": {**NARROW, "length": 80000 - PROMPT + 1, **RECOMPUTED},
}
ELSEWHERE: dict[str, dict[str, Any]] = {
    "Llama, 1 of 5,000": {
        "samples": 1,
        "length": 5000,
        "batches": 1,
        "sizes": {"model_type": "llama", "hidden_size": 320, "num_attention_heads": 10, "num_key_value_heads": 2},
    },
    "Llama, 8 of 256, 3 micro-batches": {
        "samples": 8,
        "length": 240,
        "batches": 3,
        "sizes": {"model_type": "llama", "hidden_size": 384, "num_attention_heads": 12},
    },
    "Qwen 3, 4 of 700, head of its own over 8,192": {
        "samples": 4,
        "length": 700,
        "batches": 1,
        "sizes": {"vocab_size": 8192, "tie_word_embeddings": False, "num_hidden_layers": 4},
    },
    "Gemma 3, 1 of 4,000, vocabulary of 65,536": {
        "samples": 1,
        "length": 4000,
        "batches": 1,
        "sizes": {
            "model_type": "gemma3_text",
            "vocab_size": 65_536,
            "sliding_window": 512,
            "query_pre_attn_scalar": 32,
            "num_hidden_layers": 4,
        },
    },
    "Qwen 3 MoE, 16 experts, 2 of 2,000": {
        "samples": 2,
        "length": 2000,
        "batches": 1,
        "sizes": {
            "model_type": "qwen3_moe",
            "num_experts": 16,
            "num_experts_per_tok": 4,
            "moe_intermediate_size": 192,
            "num_hidden_layers": 4,
        },
    },
    "Mixtral, 4 experts, 6 of 256": {
        "samples": 6,
        "length": 241,
        "sizes": {"model_type": "mixtral", "num_local_experts": 4, "num_experts_per_tok": 2, "intermediate_size": 512},
    },
    "latent attention, 1 of 4,000": {"samples": 1, "length": 4000, "batches": 1, "sizes": LATENT},
    "LoRA, 3 of 1,500": {
        "samples": 3,
        "length": 1500,
        "policy": {"adapter": {"type": "lora", "rank": 16}},
        "kl": {"coefficient": 0.1},
    },
    "ZeRO 1, 4 of 900": {"samples": 4, "length": 900, "zero_stage": 1},
    "ZeRO 2, 4 of 900": {"samples": 4, "length": 900, "zero_stage": 2},
    "ZeRO 3, 4 of 900": {"samples": 4, "length": 900, "zero_stage": 3},
    "ZeRO 2 on 2 ranks, 4 of 900": {"samples": 4, "length": 900, "batches": 1, "zero_stage": 2, "ranks": 2},
    "8,192 tokens that 2 ranks share out": {"samples": 1, "length": 8192 - PROMPT + 1, "batches": 1, **SHARED},
    "32,768 tokens, checkpointed, 3 layers of 128": {
        "samples": 1,
        "length": 32768 - PROMPT + 1,
        "batches": 1,
        "sizes": {
            **TINY,
            "hidden_size": 128,
            "intermediate_size": 384,
            "num_hidden_layers": 3,
            "num_key_value_heads": 1,
        },
        **RECOMPUTED,
    },
}
"""Shapes that nothing of the estimate was made on. Each is measured in both number types."""


def measure() -> list[Figure]:
    """Predicted over measured peak of every shape."""
    figures = []
    for name, shape in everything().items():
        predicted, measured = compare(shape)
        figures.append(Figure(f"{name}: measured peak", measured / 1e6, "MB"))
        figures.append(Figure(f"{name}: predicted / measured", predicted / measured, "", "0.85 to 1.15"))
    return figures


def everything() -> dict[str, dict[str, Any]]:
    """All shapes by name: those that the estimate was made on, and those elsewhere in each number type."""
    found = dict(SHAPES)
    for name, shape in ELSEWHERE.items():
        found[f"{name}, float32"] = shape
        found[f"{name}, bfloat16"] = narrow(shape)
    return found


def narrow(shape: dict[str, Any]) -> dict[str, Any]:
    """The shape in bfloat16."""
    return {**shape, "policy": {**shape.get("policy", {}), **BFLOAT16["policy"]}}


def compare(shape: dict[str, Any]) -> tuple[int, int]:
    """Predicted and measured bytes of a rank's peak, beyond what its libraries take."""
    # Blocks of this size and more are mapped one by one, and unmapped when they are freed.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MALLOC_MMAP_THRESHOLD_": "65536", "PYTHONPATH": str(ROOT)}
    ranks = shape.get("ranks", 1)
    with tempfile.TemporaryDirectory() as name:
        place = None if ranks == 1 else f"file://{name}/meeting"
        started = [
            subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "tests.bench.learner_memory",
                    json.dumps({**shape, "rank": rank, "meet": place}),
                ],
                env=environment,
                cwd=ROOT,
                stdout=subprocess.PIPE,
                text=True,
            )
            for rank in range(ranks)
        ]
        answers = [process.communicate()[0] for process in started]
    if any(process.returncode for process in started):
        raise RuntimeError(f"a learner of the shape {shape} failed; its message stands above")
    found: dict[str, int] = json.loads(answers[0].splitlines()[-1])
    return found["predicted"], found["measured"]


def _in_process(shape: dict[str, Any]) -> dict[str, int]:
    import torch

    from tests.bench.measured import peak_bytes, told_peak
    from trainer_core.planning.memory import learner_memory
    from trainer_core.planning.policy_size import PolicySize
    from trainer_core.spec import RunSpec
    from trainer_core.update.learner import Learner

    torch.set_num_threads(1)
    samples, length, ranks = shape["samples"], shape["length"], shape.get("ranks", 1)
    context = shape.get("context", 1)
    tokens, together = samples * (PROMPT + length - 1), samples * (ranks // context) * shape.get("batches", 2)
    device = shape.get("device", "cpu")
    world = {"rank": shape.get("rank", 0), "world_size": ranks, "init_method": shape.get("meet"), "device": device}
    spec = RunSpec.model_validate(
        {
            "policy": {"base": "small", **shape.get("policy", {})},
            "data": {"sources": [{"name": "a", "dataset": "a@1"}]},
            "reward": {"definition": "r@1"},
            "rollout": {
                "group_size": together,
                "max_tokens": length,
                "engine": {"max_model_len": PROMPT + length - 1},
            },
            "schedule": {"steps": 10, "prompts_per_step": 1},
            "kl": shape.get("kl", {}),
            "loss": shape.get("loss", {"type": "ppo_clip"}),
            "entropy": shape.get("entropy", {"type": "none"}),
            "optimizer": {"learning_rate": 1e-4, **shape.get("optimizer", {})},
            "parallelism": {
                "zero_stage": shape.get("zero_stage", 0),
                "learner_ranks": ranks,
                "share_prompts": False,
                "context_parallel_size": context,
                "max_tokens_per_microbatch": -(-tokens // context),
            },
            "advantage": {"type": "reinforce"},
            "corrections": [],
            "filters": [],
        }
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_policy(folder, shape.get("sizes", {}))
        size = PolicySize.of(folder)
        warm = Learner(folder, spec, **world)
        # With the shapes that are measured: products in 16 bits are compiled shape by shape, and stay.
        warm.update(_groups(together, length), spec, 1)
        del warm
        learners: list[Learner] = []

        def start_and_step() -> float:
            learners.append(Learner(folder, spec, **world))
            return told_peak(learners[0].update(_groups(together, length), spec, 1))

        measured = peak_bytes(start_and_step, device)
    own = learner_memory(size, spec, spec.parallelism.zero_stage, ranks, keys=PROMPT + length - 1)
    return {"predicted": own.peak, "measured": measured}


def _write_policy(folder: Path, sizes: Mapping[str, Any]) -> None:
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    torch.manual_seed(0)
    config = AutoConfig.for_model(**{**DENSE, **sizes})
    AutoModelForCausalLM.from_config(config).save_pretrained(folder)


def _groups(samples: int, length: int) -> Any:
    import numpy as np

    from trainer_core.episodes import Credit, Group, Trajectory, Verdict

    rng = np.random.default_rng(0)
    made = [
        Trajectory(
            trajectory_id=str(number),
            prompt_ids=rng.integers(0, VOCABULARY, PROMPT).astype(np.int32),
            token_ids=rng.integers(0, VOCABULARY, length).astype(np.int32),
            behaviour_logprobs=np.full(length, -6.0, dtype=np.float32),
            versions=np.zeros(length, dtype=np.int32),
            sampled=np.ones(length, dtype=np.bool_),
            finish_reason="stop",
            temperature=1.0,
            verdict=Verdict(reward=0.0),
            credit=Credit(advantage=1.0),
        )
        for number in range(samples)
    ]
    return [Group("0", "a:0", "a", "a@1", {}, "", 0, made)]


if __name__ == "__main__":
    print(json.dumps(_in_process(json.loads(sys.argv[1]))))
