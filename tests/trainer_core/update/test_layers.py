"""Weights layer by layer: the same as all at once, in the types in which engines want them."""

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.support.about import LEARNING
from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.update.formats.travel import travel_type
from trainer_core.update.learner import Learner
from trainer_core.update.model.naming import layer_of

BF16 = {"base": "tiny", "dtype": "bfloat16"}
LORA = {**BF16, "adapter": {"type": "lora", "rank": 4, "alpha": 8}}
NARROW = {"dtype": "bfloat16", "max_model_len": 128}


@pytest.mark.expensive(3, "builds a learner and steps it", about=LEARNING)
@pytest.mark.parametrize(
    ("policy", "stage"), [({"base": "tiny"}, 0), (BF16, 0), (BF16, 2), (BF16, 3), ({"base": "tiny"}, 3), (LORA, 0)]
)
def test_layers_are_the_weights_without_a_copy(policy_dir: Path, policy: dict[str, Any], stage: int) -> None:
    spec = make_spec(policy=policy, parallelism={"zero_stage": stage})
    learner = Learner(policy_dir, spec)
    learner.update(make_groups(1), spec, 1)
    own = {parameter.data_ptr() for parameter in learner._parts.model.parameters()}
    whole, found = learner.weights(), {}
    for layer in learner.layers():
        assert layer.keys().isdisjoint(found)
        assert len({layer_of(name) for name in layer}) == 1
        if stage < 3 and policy is not LORA:
            assert {tensor.data_ptr() for tensor in layer.values()} <= own
        found |= {name: tensor.clone() for name, tensor in layer.items()}
    assert found.keys() == whole.keys()
    for name, tensor in found.items():
        assert torch.equal(tensor.float(), torch.from_numpy(whole[name]))
        merged = policy is LORA and name.endswith("_proj.weight")
        assert tensor.dtype == (torch.bfloat16 if policy.get("dtype") and not merged else torch.float32)


@pytest.mark.parametrize(
    ("name", "engine", "kind", "expected"),
    [
        ("model.layers.0.mlp.up_proj.weight", {}, torch.float32, torch.float32),
        ("model.layers.0.mlp.up_proj.weight", {}, torch.bfloat16, torch.bfloat16),
        ("model.layers.0.mlp.up_proj.weight", {"dtype": "bfloat16"}, torch.float32, torch.bfloat16),
        ("model.layers.0.mlp.up_proj.weight", {"dtype": "float16"}, torch.float32, torch.float16),
        ("model.layers.0.mlp.gate.weight", {"dtype": "bfloat16"}, torch.float32, torch.float32),
        ("model.layers.0.mlp.gate_proj.weight", {"dtype": "bfloat16"}, torch.float32, torch.bfloat16),
        ("lm_head.weight", {"dtype": "bfloat16"}, torch.float32, torch.bfloat16),
        ("lm_head.weight", {"dtype": "bfloat16", "lm_head_dtype": "float32"}, torch.float32, torch.float32),
        ("lm_head.weight", {"dtype": "bfloat16", "lm_head_dtype": "float32"}, torch.bfloat16, torch.bfloat16),
        ("model.embed_tokens.weight", {"dtype": "float16", "lm_head_dtype": "float32"}, torch.float32, torch.float32),
        ("w", {"dtype": "bfloat16", "quantization": {"type": "fp8"}}, torch.float32, torch.float32),
    ],
)
def test_the_narrower_type_travels(name: str, engine: dict[str, Any], kind: torch.dtype, expected: torch.dtype) -> None:
    parts = {"corrections": [{"type": "truncated_is"}]} if "quantization" in engine else {}
    spec = make_spec(rollout={"engine": {**engine, "max_model_len": 128}, "max_tokens": 60}, **parts)
    assert travel_type(name, torch.ones(2, 2, dtype=kind), spec.rollout.engine) == expected
    assert travel_type(name, torch.ones(2, dtype=kind), spec.rollout.engine) == kind
