"""Travel of a version's weights: into an engine at 134.5 M parameters, and between two processes by each transport."""

import multiprocessing
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median

from tests.bench.memory_watch import MIB, watched
from tests.bench.report import Figure
from tests.bench.weight_transports import measure_transports

VERSIONS = 6
PROBE = [[1 + (7 * place + 31 * line) % 4000 for place in range(16)] for line in range(4)]
SHARE = 0.025
"""Share of the bfloat16 weights that moves in a step."""
PAUSE = "≤ 400"


def measure() -> list[Figure]:
    """An engine's figures in both number types, whole and changes alone; then those of the transports."""
    figures = []
    with tempfile.TemporaryDirectory() as directory:
        policy = make_policy(Path(directory))
        for dtype, changes in (("float32", False), ("bfloat16", False), ("bfloat16", True)):
            # In a process of its own: vLLM leaves settings in the environment that others must not inherit.
            with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
                found = pool.submit(_travel, str(policy), dtype, changes).result()
            way = f"{dtype}, {'changes' if changes else 'whole'}"
            figures += [
                Figure(f"{way}: {name}", value, unit, PAUSE if "paused" in name and dtype != "float32" else "")
                for name, value, unit in found
            ]
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return figures + pool.submit(measure_transports).result()


def make_policy(directory: Path) -> Path:
    """A random policy of 134.5 million parameters: Qwen3's shape, 30 layers of 576, a vocabulary of 49,152."""
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    config = Qwen3Config(
        vocab_size=49_152,
        hidden_size=576,
        intermediate_size=1536,
        num_hidden_layers=30,
        num_attention_heads=9,
        num_key_value_heads=3,
        head_dim=64,
        tie_word_embeddings=True,
        max_position_embeddings=2048,
        bos_token_id=None,
        eos_token_id=1,
        pad_token_id=0,
    )
    torch.manual_seed(0)
    Qwen3ForCausalLM(config).save_pretrained(directory)
    return directory


class Mover:
    """A learner's weights, of which a share moves with every version."""

    engine_fp8 = None

    def __init__(self, policy: str, dtype: str) -> None:
        import torch
        from safetensors.torch import load_file

        self.version = 0
        loaded = load_file(Path(policy) / "model.safetensors")
        self.tensors = {name: tensor.to(getattr(torch, dtype)) for name, tensor in loaded.items()}
        self._share = SHARE if dtype == "bfloat16" else 1.0

    def move(self) -> None:
        """Make the next version."""
        import torch

        self.version += 1
        for tensor in self.tensors.values():
            flat = tensor.view(-1)
            places = torch.randperm(flat.numel())[: max(1, int(self._share * flat.numel()))]
            flat[places] *= 1.0 + 2.0**-7

    def layers(self) -> "Iterator[dict]":
        """The weights."""
        from itertools import groupby

        from trainer_core.update.model.naming import layer_of

        for _, layer in groupby(sorted(self.tensors.items()), lambda one: layer_of(one[0])):
            yield dict(layer)

    def score_rounded_otherwise(self, sequences: Sequence[Sequence[int]]) -> None:
        """The scores are no policy's."""

    def score(self, sequences: Sequence[Sequence[int]]) -> list[list[float]]:
        """Nothing: no forward pass is measured here."""
        return [[0.0] * (len(sequence) - 1) for sequence in sequences]


def _travel(policy: str, dtype: str, changes: bool) -> list[tuple[str, float, str]]:
    import ray

    from worker.engine import EngineConfig, InferenceEngine
    from worker.learner.publication import Publication
    from worker.learner.transport.object_store import ObjectStore
    from worker.learner.weights import publish

    learner = Mover(policy, dtype)
    ray.init(num_cpus=1, object_store_memory=3 << 30, include_dashboard=False, log_to_driver=False)
    config = EngineConfig(
        policy, dtype=dtype, lm_head_dtype="float32", max_model_len=256, max_num_seqs=8, kv_cache_gib=0.1
    )
    publication = Publication(ObjectStore()) if changes else None
    times: dict[str, list[float]] = {"publish": [], "load": [], "score": []}
    peaks: dict[str, list[float]] = {"publish": [], "load": []}
    with InferenceEngine(config) as engine:
        for _ in range(VERSIONS):
            learner.move()
            with watched(times["publish"], peaks["publish"]):
                handle = publish(learner, PROBE, publication)
            bundle = handle.open()
            with watched(times["load"], peaks["load"]):
                bundle.load_into(engine)
            started = time.perf_counter()
            engine.score(PROBE)
            times["score"].append(time.perf_counter() - started)
        sent = sum(one.numel() * one.element_size() for one in learner.tensors.values())
        if bundle.changes:
            sent = bundle.changes[-1].size
    ray.shutdown()
    load, score = (1000 * median(times[name][2:]) for name in ("load", "score"))
    return [
        ("generation paused", load + score, "ms"),
        ("  of it the load", load, "ms"),
        ("  of it the probe", score, "ms"),
        ("publishing", 1000 * median(times["publish"][2:]), "ms"),
        ("sent", sent / MIB, "MiB"),
        ("peak beside the store, learner", max(peaks["publish"][2:]), "MiB"),
        ("peak beside the store, engine", max(peaks["load"][2:]), "MiB"),
    ]
