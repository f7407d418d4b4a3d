"""How long generation stands still for a weight update: from the last step before it to the next token."""

import multiprocessing
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from tests.bench.report import Figure
from tests.support.installation import ROOT, Installation

if TYPE_CHECKING:
    from worker.engine import KvOnUpdate

RUNNING, UPDATES, STEPS_BETWEEN = 128, 8, 20
PROMPT_TOKENS, MAX_TOKENS = 24, 400
PROBE_SEQUENCES, PROBE_TOKENS = 4, 16
STARTER = ROOT / "demo" / "starter-policy"
TARGET = "≤ 150"


def measure(installation: Installation) -> list[Figure]:
    """Milliseconds of standstill: check, load, probe, first step. With 128 running sequences of about 110 tokens."""
    figures = []
    with tempfile.TemporaryDirectory() as directory:
        for name, policy in (("starter policy", STARTER), ("10 M parameters", _ten_million(Path(directory)))):
            for kv in ("keep", "recompute"):
                # In a process of its own: vLLM leaves settings in the environment that others must not inherit.
                with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
                    pause, step = pool.submit(_pause, str(policy), kv).result()
                figures += [
                    # To compute the cache anew is work in proportion to its tokens: no target there.
                    Figure(f"{name}, KV cache: {kv}: generation paused", pause, "ms", TARGET if kv == "keep" else ""),
                    Figure(f"{name}, KV cache: {kv}: an undisturbed step", step, "ms"),
                ]
    return figures


def _ten_million(directory: Path) -> Path:
    """A random policy of ten million parameters with the starter's vocabulary."""
    import torch
    from transformers import AutoConfig, Qwen3ForCausalLM

    config = AutoConfig.from_pretrained(STARTER)
    config.hidden_size, config.intermediate_size, config.num_hidden_layers = 384, 1024, 6
    config.layer_types = ["full_attention"] * config.num_hidden_layers
    config.num_attention_heads, config.num_key_value_heads, config.head_dim = 6, 2, 64
    torch.manual_seed(0)
    model = Qwen3ForCausalLM(config)
    size = sum(parameter.numel() for parameter in model.parameters())
    if not 9e6 < size < 11e6:
        raise RuntimeError(f"the policy of ten million parameters has {size:,}")
    model.save_pretrained(directory)
    return directory


def _pause(policy: str, kv: "KvOnUpdate") -> tuple[float, float]:
    """Median milliseconds from stop to first token, and of a step without an update."""
    import numpy as np
    from safetensors.numpy import load_file

    from worker.engine import EngineConfig, InferenceEngine, Request, Sampling

    tensors = load_file(Path(policy) / "model.safetensors")
    rng = np.random.default_rng(0)
    probe = rng.integers(0, 90, (PROBE_SEQUENCES, PROBE_TOKENS)).tolist()
    config = EngineConfig(policy, max_model_len=512, max_num_seqs=RUNNING, kv_cache_gib=1.0, stop_at_eos=False)
    pauses, steps = [], []
    with InferenceEngine(config) as engine:
        for index in range(RUNNING):
            prompt = tuple(rng.integers(2, 90, PROMPT_TOKENS).tolist())
            engine.submit(Request(str(index), prompt, Sampling(1.0, max_tokens=MAX_TOKENS)))
        for version in range(1, UPDATES + 1):
            for _ in range(STEPS_BETWEEN):
                started = time.perf_counter()
                engine.step()
                steps.append(time.perf_counter() - started)
            started = time.perf_counter()
            engine.load_weights(version, tensors, kv=kv)
            engine.score(probe)
            before = engine.stats().generated_tokens
            while engine.stats().generated_tokens == before:
                engine.step()
            pauses.append(time.perf_counter() - started)
    return median(pauses[2:]) * 1000, median(steps[STEPS_BETWEEN:]) * 1000
