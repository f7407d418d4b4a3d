"""The learner at the shape of Qwen3-0.6B on one long sequence, beside a published figure of one H100.

prime-rl's baseline (sequence of 16,384 tokens, everything recomputed): 11,896 tokens/s, an MFU of 11.1 % and 12.5 GiB.
MFU counts what they count: 6 operations for each parameter and token, and attention to half of the sequence; what is
recomputed is no work.
"""

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

from tests.bench.measured import peak_bytes, told_peak
from tests.bench.report import Figure
from trainer_core.episodes import Credit, Group, Trajectory, Verdict
from trainer_core.planning.attained import LEARNED
from trainer_core.planning.cluster import Scale
from trainer_core.planning.memory import GIB, learner_memory
from trainer_core.planning.policy_size import PolicySize
from trainer_core.spec import RunSpec
from trainer_core.update.device import settle
from trainer_core.update.learner import Learner
from worker.cluster.cores import usable_cores
from worker.learner.peak import measure_peaks

PUBLISHED_TOKENS_PER_S, PUBLISHED_GIB = 11_896, 12.5
PROMPT = 64
WARM = 2
"""Steps before the clock runs: kernels are compiled in them."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Policy and sequence; as published where nothing else is said."""

    layers: int = 28
    hidden: int = 1024
    intermediate: int = 3072
    heads: int = 16
    kv_heads: int = 8
    head_dim: int = 128
    vocabulary: int = 151_936
    tokens: int = 16_384
    """Of the one sequence, its prompt included."""
    rounds: int = 5


def figures(shape: Shape, device: str) -> list[Figure]:
    """Speed, memory and utilisation of an update in bfloat16 with float32 masters, activations recomputed."""
    spec, groups = _spec(shape), [_group(shape)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_policy(folder, shape)
        learners: list[Learner] = []

        def start() -> float:
            learners.append(Learner(folder, spec, device=device))
            return max(told_peak(learners[0].update(groups, spec, step)) for step in range(1, WARM + 1))

        peak = peak_bytes(start, device)
        seconds = _seconds(learners[0], groups, spec, shape.rounds, device)
        work = LEARNED * Scale.of(folder).working(shape.tokens / 2) * shape.tokens
        predicted = learner_memory(PolicySize.of(folder), spec, 0, 1, keys=shape.tokens).peak
    ceiling = measure_peaks(device, ("bfloat16",), usable_cores())["bfloat16"]
    title = f"learner, {shape.layers} layers of {shape.hidden}, a sequence of {shape.tokens:,}"
    return [
        Figure(f"{title}: speed", shape.tokens / seconds, "tokens/s", f"≥ {3 * PUBLISHED_TOKENS_PER_S:,}"),
        Figure(f"{title}: peak memory", peak / GIB, "GiB", f"≤ {PUBLISHED_GIB}"),
        Figure(f"{title}: memory, predicted / measured", predicted / peak, "", "0.85 to 1.15"),
        Figure(f"{title}: MFU of the measured peak", work / seconds / ceiling),
        Figure(f"{title}: MFU of an H100's 989 TFLOP/s", work / seconds / 989e12, "", "≥ 0.333"),
    ]


def _seconds(learner: Learner, groups: list[Group], spec: RunSpec, rounds: int, device: str) -> float:
    """Median time of an update."""
    taken = []
    for step in range(WARM + 1, WARM + 1 + rounds):
        settle(torch.device(device))
        started = time.perf_counter()
        learner.update(groups, spec, step)
        settle(torch.device(device))
        taken.append(time.perf_counter() - started)
    return sorted(taken)[rounds // 2]


def _spec(shape: Shape) -> RunSpec:
    return RunSpec.model_validate(
        {
            "policy": {"base": "published", "dtype": "bfloat16", "gradient_checkpointing": True},
            "data": {"sources": [{"name": "a", "dataset": "a@1"}]},
            "reward": {"definition": "r@1"},
            "rollout": {
                "group_size": 1,
                "max_tokens": shape.tokens - PROMPT,
                "engine": {"max_model_len": shape.tokens},
            },
            "schedule": {"steps": 100, "prompts_per_step": 1},
            "optimizer": {"learning_rate": 1e-6},
            "parallelism": {"share_prompts": False, "max_tokens_per_microbatch": shape.tokens},
            "advantage": {"type": "reinforce"},
            "corrections": [],
            "filters": [],
        }
    )


def _group(shape: Shape) -> Group:
    rng = np.random.default_rng(0)
    answer = shape.tokens - PROMPT
    trajectory = Trajectory(
        trajectory_id="0",
        prompt_ids=rng.integers(0, shape.vocabulary, PROMPT).astype(np.int32),
        token_ids=rng.integers(0, shape.vocabulary, answer).astype(np.int32),
        behaviour_logprobs=np.full(answer, -np.log(shape.vocabulary), dtype=np.float32),
        versions=np.zeros(answer, dtype=np.int32),
        sampled=np.ones(answer, dtype=np.bool_),
        finish_reason="stop",
        temperature=1.0,
        verdict=Verdict(reward=1.0),
        credit=Credit(advantage=1.0),
    )
    return Group("0", "a:0", "a", "a@1", {}, "", 0, [trajectory])


def _write_policy(folder: Path, shape: Shape) -> None:
    """Write a Qwen3 policy with random weights."""
    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=shape.vocabulary,
        tie_word_embeddings=True,
        hidden_size=shape.hidden,
        intermediate_size=shape.intermediate,
        head_dim=shape.head_dim,
        max_position_embeddings=40_960,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.kv_heads,
    )
    Qwen3ForCausalLM(config).bfloat16().save_pretrained(folder)
