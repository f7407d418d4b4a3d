"""The learner on a device: the update of a CPU, checkpoints that a run goes on from, and memory as it was estimated.

DeepSpeed chooses a device once for a process: each learner on a card has a process of its own.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.bench.learner_memory import SHAPES, compare
from tests.support.alone import alone
from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.update.learner import Learner

SMOOTH = {"learning_rate": 1e-3, "epsilon": 1e-3}
"""With Adam's usual epsilon the first updates are signs of gradients, and rounding decides those near zero."""
MEMORY = "perf/learner_memory_max"
WAYS: dict[str, dict[str, Any]] = {
    "float32": {"optimizer": SMOOTH},
    "float32, ZeRO 3": {"optimizer": SMOOTH, "parallelism": {"zero_stage": 3}},
    "LoRA": {"optimizer": SMOOTH, "policy": {"base": "tiny", "adapter": {"type": "lora", "rank": 4, "alpha": 8}}},
    "bfloat16, ZeRO 2": {
        "optimizer": SMOOTH,
        "policy": {"base": "tiny", "dtype": "bfloat16"},
        "parallelism": {"zero_stage": 2},
    },
}
SAVING: dict[str, dict[str, Any]] = {
    "activations": {"policy": {"base": "tiny", "activation_offload": True}},
    "moments": {"optimizer": {**SMOOTH, "offload": True}, "parallelism": {"zero_stage": 2}},
}


def first_steps(policy: Path, folder: Path, device: str, way: str) -> dict[str, float]:
    """Metrics of the first step; a run that goes on from its checkpoint must be the one that was not interrupted."""
    spec = make_spec(**WAYS[way])
    straight = Learner(policy, spec, device=device)
    first = straight.update(make_groups(1), spec, 1)
    straight.save(folder, {"step": 1})
    resumed = Learner(policy, spec, device=device)
    assert resumed.load(folder) == {"step": 1}
    for step in (2, 3):
        ours, theirs = (learner.update(make_groups(step), spec, step) for learner in (straight, resumed))
        ours.pop(MEMORY, None)
        theirs.pop(MEMORY, None)
        assert ours == pytest.approx(theirs, rel=1e-4, abs=1e-6)
    after = resumed.weights()
    for name, weight in straight.weights().items():
        np.testing.assert_allclose(after[name], weight, atol=1e-5)
        assert np.isfinite(weight).all()
    return first


@pytest.mark.parametrize(("device", "way"), [("cpu", "float32"), *(("cuda", way) for way in WAYS)])
def test_a_run_learns_saves_and_goes_on(policy_dir: Path, tmp_path: Path, device: str, way: str) -> None:
    expected = first_steps(policy_dir, tmp_path / "expected", "cpu", way)
    assert MEMORY not in expected
    if device == "cpu":
        return
    found = alone(first_steps, policy_dir, tmp_path / "found", device, way)
    assert found["actor/grad_norm"] == pytest.approx(expected["actor/grad_norm"], rel=0.02)
    assert found["actor/entropy"] == pytest.approx(expected["actor/entropy"], abs=0.01)
    assert found[MEMORY] > 0.0


def two_steps(policy: Path, parts: dict[str, Any]) -> list[dict[str, float]]:
    """Metrics of two steps on a card, without those of its memory."""
    spec = make_spec(**parts)
    learner = Learner(policy, spec, device="cuda")
    assert {one.device for one in learner._parts.model.parameters()} == {torch.device("cuda", 0)}
    found = [learner.update(make_groups(step), spec, step) for step in (1, 2)]
    return [{name: value for name, value in metrics.items() if name != MEMORY} for metrics in found]


@pytest.mark.parametrize("what", SAVING)
def test_what_is_kept_in_the_memory_of_the_host_comes_back(policy_dir: Path, what: str) -> None:
    usual = {**SAVING[what], "policy": {"base": "tiny"}, "optimizer": SMOOTH}
    kept, expected = (alone(two_steps, policy_dir, parts) for parts in ({"optimizer": SMOOTH, **SAVING[what]}, usual))
    for mine, theirs in zip(kept, expected, strict=True):
        assert mine == pytest.approx(theirs, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("shape", ["4 short sequences", "checkpointed", "reference, ZeRO 2"])
def test_memory_is_as_it_was_estimated(shape: str) -> None:
    predicted, measured = compare({**SHAPES[shape], "device": "cuda"})
    assert 0.8 < predicted / measured < 1.25, (predicted, measured)
