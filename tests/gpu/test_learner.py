"""The learner on a device: the update of a CPU, checkpoints that a run goes on from, and memory as it was estimated."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.bench.learner_memory import SHAPES, compare
from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.update.learner import Learner

SMOOTH = {"learning_rate": 1e-3, "epsilon": 1e-3}
"""With Adam's usual epsilon the first updates are signs of gradients, and rounding decides those near zero."""
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


@pytest.mark.parametrize(("device", "way"), [("cpu", "float32"), *(("cuda", way) for way in WAYS)])
def test_a_run_learns_saves_and_goes_on(policy_dir: Path, tmp_path: Path, device: str, way: str) -> None:
    spec = make_spec(**WAYS[way])
    straight = Learner(policy_dir, spec, device=device)
    usual = Learner(policy_dir, spec)
    found, expected = (learner.update(make_groups(1), spec, 1) for learner in (straight, usual))
    assert found["actor/grad_norm"] == pytest.approx(expected["actor/grad_norm"], rel=0.02)
    assert found["actor/entropy"] == pytest.approx(expected["actor/entropy"], abs=0.01)
    straight.save(tmp_path / "c", {"step": 1})
    resumed = Learner(policy_dir, spec, device=device)
    assert resumed.load(tmp_path / "c") == {"step": 1}
    for step in (2, 3):
        ours, theirs = (learner.update(make_groups(step), spec, step) for learner in (straight, resumed))
        assert ours == pytest.approx(theirs, rel=1e-4, abs=1e-6)
    for name, weight in straight.weights().items():
        np.testing.assert_allclose(resumed.weights()[name], weight, atol=1e-5)
        assert np.isfinite(weight).all()


@pytest.mark.parametrize("what", SAVING)
def test_what_is_kept_in_the_memory_of_the_host_comes_back(policy_dir: Path, what: str) -> None:
    kept = make_spec(**SAVING[what])
    spec = make_spec(**{**SAVING[what], "policy": {"base": "tiny"}, "optimizer": SMOOTH})
    learners = [(Learner(policy_dir, one, device="cuda"), one) for one in (kept, spec)]
    for step in (1, 2):
        found, expected = (learner.update(make_groups(step), one, step) for learner, one in learners)
        assert found == pytest.approx(expected, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("shape", ["4 short sequences", "checkpointed", "reference, ZeRO 2"])
def test_memory_is_as_it_was_estimated(shape: str) -> None:
    predicted, measured = compare({**SHAPES[shape], "device": "cuda"})
    assert 0.8 < predicted / measured < 1.25, (predicted, measured)


def test_a_rank_computes_on_the_card_that_it_was_given(policy_dir: Path) -> None:
    learner = Learner(policy_dir, make_spec(), device="cuda")
    places = {parameter.device for parameter in learner._parts.model.parameters()}
    assert places == {torch.device("cuda", torch.cuda.current_device())}
