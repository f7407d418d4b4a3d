"""LoRA beside lightning and softmax attention: experts and routers rest, and files hold the sum."""

from pathlib import Path

import pytest
import torch
from pydantic import ValidationError

from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.planning.policy_size import PolicySize
from trainer_core.update.learner import Learner
from trainer_core.update.model.policy import load_policy, score
from trainer_core.update.packed.packing import pack

ADAPTED = {"policy": {"base": "tiny", "adapter": {"type": "lora", "rank": 4}}, "kl": {"coefficient": 0.1}}


@pytest.mark.expensive(2, "trains a step")
def test_an_adapter_trains_beside_both_kinds_of_attention(hybrid_dir: Path, tmp_path: Path) -> None:
    spec = make_spec(**ADAPTED)
    learner = Learner(hybrid_dir, spec)
    first = learner.update(make_groups(1), spec, 1)
    assert first["actor/kl_loss"] == pytest.approx(0.0, abs=1e-6)
    assert learner.update(make_groups(2), spec, 2)["actor/kl_loss"] > 1e-7
    names = {name.split(".")[-4] for name in learner._engine.shapes()}
    assert names == {"qkv_proj", "output_gate", "out_proj", "q_proj", "k_proj", "v_proj", "o_proj"}
    size = PolicySize.of(hybrid_dir)
    added = sum(rows * columns for rows, columns in learner._engine.shapes().values())
    assert size.adapter_parameters(spec.policy.adapter) == added
    learner.save(tmp_path / "c")
    (batch,) = pack([t for group in make_groups(3) for t in group.trajectories], 1 << 14)
    with torch.no_grad():
        merged, _ = score(load_policy(tmp_path / "c"), batch)
        own, _ = score(learner._engine.forward, batch)
    torch.testing.assert_close(merged, own, rtol=1e-4, atol=1e-4)
    resumed = Learner(hybrid_dir, spec)
    resumed.load(tmp_path / "c")
    assert resumed.update(make_groups(3), spec, 3) == learner.update(make_groups(3), spec, 3)


def test_biases_that_move_are_no_part_of_a_reference() -> None:
    policy = {**ADAPTED["policy"], "routing": {"balance": {"type": "loss_free"}}}
    with pytest.raises(ValidationError, match="would be routed by the biases that loss_free moves"):
        make_spec(**{**ADAPTED, "policy": policy})
