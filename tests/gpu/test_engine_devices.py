"""Engines of two devices that share out layers, experts or stages: they score and take updates as one device does.

Two processes stand for two cards in ``tests/worker/engine/test_several_devices.py``.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.alone import alone
from tests.worker.engine.mixtures import drawn, files, largest_difference, make_mixture, own_logprobs
from worker.engine import EngineConfig, EngineDevices, InferenceEngine, Request, Sampling

SEQUENCES = drawn([3, 40, 100])
WAYS: dict[str, tuple[str, EngineDevices]] = {
    "layers": ("qwen3", EngineDevices(tensor=2)),
    "experts": ("qwen3_moe", EngineDevices(tensor=2, experts=True)),
    "stages": ("qwen3", EngineDevices(pipeline=2)),
}


def differences(folders: list[Path], devices: EngineDevices, dtype: str) -> dict[str, Any]:
    """What an engine scores otherwise than a plain forward pass, before and after an update, and what it samples."""
    from transformers import AutoModelForCausalLM

    plain = [[own_logprobs(model, one) for one in SEQUENCES] for model in map(_eager(AutoModelForCausalLM), folders)]
    config = EngineConfig(
        str(folders[0]),
        max_model_len=192,
        max_num_seqs=16,
        max_num_batched_tokens=64,
        kv_cache_gib=0.05,
        stop_at_eos=False,
        dtype=dtype,
        devices=devices,
    )
    with InferenceEngine(config) as engine:
        first = largest_difference(engine.score(SEQUENCES), plain[0])
        engine.load_weights(1, files(folders[1]))
        updated = largest_difference(engine.score(SEQUENCES), plain[1])
        engine.submit(Request("one", tuple(SEQUENCES[1]), Sampling(temperature=1.0, max_tokens=12)))
        done = []
        while engine.has_unfinished:
            done += engine.step()
        told = engine.score([[*SEQUENCES[1], *done[0].token_ids]])[0][len(SEQUENCES[1]) - 1 :]
    sampled = float(np.abs(np.subtract(done[0].logprobs, told)).max())
    return {"first": first, "updated": updated, "sampled": sampled, "tokens": len(done[0].token_ids)}


def _eager(kind: Any) -> Any:
    return lambda folder: kind.from_pretrained(folder).eval()


@pytest.mark.gpu(2)
@pytest.mark.parametrize("what", WAYS)
def test_two_devices_score_sample_and_take_new_weights(what: str, tmp_path: Path) -> None:
    name, devices = WAYS[what]
    folders = [tmp_path / str(number) for number in range(2)]
    for seed, folder in enumerate(folders):
        make_mixture(name, folder, seed=seed)
    found = alone(differences, folders, devices, "float32")
    assert found.pop("tokens") == 12
    assert max(found.values()) < 5e-3, found
