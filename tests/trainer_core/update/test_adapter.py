"""LoRA: the formula in float64, one copy for policy and reference, every ZeRO stage, checkpoints, refusals."""

import gc
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from peft import PeftModel
from pydantic import ValidationError
from safetensors.torch import load_file
from torch import Tensor
from transformers import AutoModelForCausalLM, PreTrainedModel

from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.episodes import Verdict
from trainer_core.spec import RunSpec
from trainer_core.spec.learner.adapter import LoRAAdapter
from trainer_core.starter.architectures import make_tiny
from trainer_core.update.auxiliary.bare import BareBackbone
from trainer_core.update.auxiliary.frozen_policy import FrozenPolicy
from trainer_core.update.learner import Learner
from trainer_core.update.model.adapter import Adapter
from trainer_core.update.model.policy import load_policy, logits, score
from trainer_core.update.packed.attention import UnsupportedPolicy
from trainer_core.update.packed.packing import pack
from trainer_core.update.saving.integrity import CheckpointError, write_manifest

ABOUT = ("trainer_core", "kernels", "worker/learner")
LORA = {"type": "lora", "rank": 4, "alpha": 8}


def lora_spec(stage: int = 0, **parts: Any) -> RunSpec:
    chosen = {"policy": {"base": "tiny", "adapter": LORA}, "parallelism": {"zero_stage": stage}}
    return make_spec(**{**chosen, "kl": {"coefficient": 0.1}, **parts})


def adapted(folder: Path, seed: int = 3, **changes: Any) -> tuple[PreTrainedModel, Adapter]:
    """A policy whose adapter does something: B is not 0."""
    model = load_policy(folder)
    adapter = Adapter(model, LoRAAdapter(**{**LORA, **changes}), seed=seed, base="tiny")
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        if ".lora_B." in name:
            parameter.data.copy_(torch.randn(parameter.shape, generator=generator) / 50)
    return model, adapter


def raw(model: PreTrainedModel) -> dict[str, Tensor]:
    return {name: parameter.detach().clone() for name, parameter in model.named_parameters()}


@pytest.mark.parametrize("use_rslora", [False, True])
def test_the_merged_policy_is_the_adapted_one_in_values_and_gradients(policy_dir: Path, use_rslora: bool) -> None:
    model, adapter = adapted(policy_dir, use_rslora=use_rslora)
    assert adapter.scaling == (4.0 if use_rslora else 2.0)
    model = model.double()
    plain = load_policy(policy_dir).double()
    plain.load_state_dict(adapter.merged(raw(model)), strict=False)
    assert adapter.merged(raw(model)).keys() == raw(plain).keys()
    (batch,) = pack([t for group in make_groups(1) for t in group.trajectories], 1 << 14)
    slopes = torch.randn(len(batch.targets), 64, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    found, expected = logits(model, batch), logits(plain, batch)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    (found * slopes).sum().backward()
    (expected * slopes).sum().backward()
    whole = {name: parameter.grad for name, parameter in plain.named_parameters()}
    matrices = dict(model.named_parameters())
    checked = 0
    for name, parameter in matrices.items():
        if ".lora_A." not in name:
            assert (parameter.grad is not None) == (".lora_B." in name)
            continue
        up = matrices[name.replace(".lora_A.", ".lora_B.")]
        gradient = whole[name.replace(".lora_A.default", "")]
        # W' = W + s·B·A, so dL/dA = s·Bᵀ·dL/dW' and dL/dB = s·dL/dW'·Aᵀ.
        torch.testing.assert_close(parameter.grad, adapter.scaling * up.T @ gradient, rtol=1e-10, atol=1e-11)
        torch.testing.assert_close(up.grad, adapter.scaling * gradient @ parameter.T, rtol=1e-10, atol=1e-11)
        checked += 1
    assert checked == 4 * 7


def test_switched_off_it_is_the_base_policy_to_the_last_bit(policy_dir: Path) -> None:
    model, adapter = adapted(policy_dir)
    (batch,) = pack([t for group in make_groups(1) for t in group.trajectories], 1 << 14)
    before, _ = score(model, batch)
    found = BareBackbone(model, adapter).score(batch)
    assert torch.equal(found, FrozenPolicy(policy_dir, "cpu").score(batch))
    assert not torch.equal(found, before)
    assert torch.equal(score(model, batch)[0], before)
    # The matrices keep their gradients: nobody was told to rest.
    assert all(p.requires_grad == (".lora_" in name) for name, p in model.named_parameters())


def test_the_reference_of_an_adapter_may_be_another_folder(policy_dir: Path, tmp_path: Path) -> None:
    """A fork starts from merged weights, and its policy without the adapter is not the base policy."""
    spec = lora_spec(optimizer={"learning_rate": 1e-2})
    trained = Learner(policy_dir, spec)
    for step in (1, 2):
        trained.update(make_groups(step), spec, step)
    trained.save(tmp_path / "trained")
    start, base = (Learner(tmp_path / "trained", spec, reference=folder) for folder in (None, policy_dir))
    assert isinstance(start._parts.reference, BareBackbone) and isinstance(base._parts.reference, FrozenPolicy)
    assert start.update(make_groups(3), spec, 1)["actor/kl_loss"] == pytest.approx(0.0, abs=1e-6)
    assert base.update(make_groups(3), spec, 1)["actor/kl_loss"] > 1e-6


@pytest.mark.parametrize(
    "stage", [0, *(pytest.param(stage, marks=pytest.mark.expensive(6, "ZeRO", about=ABOUT)) for stage in (1, 2, 3))]
)
def test_only_the_adapter_trains_and_a_resumed_learner_goes_on_bitwise(
    policy_dir: Path, tmp_path: Path, stage: int
) -> None:
    spec = lora_spec(stage)
    learner, base = Learner(policy_dir, spec), raw(load_policy(policy_dir))
    first = learner.update(make_groups(1), spec, 1)
    assert first["actor/kl_loss"] == pytest.approx(0.0, abs=1e-6)
    assert learner.update(make_groups(2), spec, 2)["actor/kl_loss"] > 1e-6
    for name, weight in learner._engine.weights().items():
        if ".lora_" not in name:
            assert torch.equal(weight, base[name.replace(".base_layer", "")])
    assert all(".lora_" in name for name in learner._engine.moments())
    moved = {name for name, weight in learner.weights().items() if not np.array_equal(weight, base[name].numpy())}
    assert {name.split(".")[-2] for name in moved} == {
        *("q_proj", "k_proj", "v_proj", "o_proj"),
        *("gate_proj", "up_proj", "down_proj"),
    }
    learner.save(tmp_path / "c", {"step": 2})
    resumed = Learner(policy_dir, spec)
    assert resumed.load(tmp_path / "c") == {"step": 2}
    for step in (3, 4):
        expected = learner.update(make_groups(step), spec, step)
        assert resumed.update(make_groups(step), spec, step) == expected
    ours, theirs = learner.weights(), resumed.weights()
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)


@pytest.mark.expensive(5, "four learners", about=ABOUT)
def test_stages_make_the_same_update_and_read_one_anothers_checkpoints(policy_dir: Path, tmp_path: Path) -> None:
    smooth = {"learning_rate": 1e-3, "epsilon": 1e-3}
    learners = {stage: Learner(policy_dir, lora_spec(stage, optimizer=smooth)) for stage in (0, 2, 3)}
    for stage, learner in learners.items():
        for step in (1, 2):
            learner.update(make_groups(step), lora_spec(stage, optimizer=smooth), step)
    plain = learners[0].weights()
    for learner in learners.values():
        for name, weight in learner.weights().items():
            np.testing.assert_allclose(weight, plain[name], atol=1e-6)
    learners[2].save(tmp_path / "c")
    learners[0].load(tmp_path / "c")
    theirs = learners[2].weights()
    assert all(np.array_equal(weight, theirs[name]) for name, weight in learners[0].weights().items())


def held_bytes() -> int:
    gc.collect()
    storages = {
        one.untyped_storage().data_ptr(): one.untyped_storage().nbytes()
        for one in gc.get_objects()
        if issubclass(type(one), Tensor) and one.device.type == "cpu" and not one.is_sparse
    }
    return sum(storages.values())


@pytest.mark.expensive(14, "measures a learner with all that it holds", about=ABOUT)
def test_policy_and_reference_are_one_copy(policy_dir: Path) -> None:
    weights = sum(weight.numel() * 4 for weight in raw(load_policy(policy_dir)).values())
    before = held_bytes()
    learner = Learner(policy_dir, lora_spec())
    adapted_bytes = held_bytes() - before
    assert isinstance(learner._parts.reference, BareBackbone)
    full = Learner(policy_dir, make_spec(kl={"coefficient": 0.1}))
    full_bytes = held_bytes() - before - adapted_bytes
    # Weights, and for the adapter matrices with two moments; else weights, their moments, and the reference.
    assert weights < adapted_bytes < 1.35 * weights
    assert full_bytes > 3.9 * weights
    assert full.version == 0


def test_a_checkpoint_is_a_merged_policy_with_the_adapter_beside_it(policy_dir: Path, tmp_path: Path) -> None:
    spec = lora_spec()
    learner = Learner(policy_dir, spec)
    learner.update(make_groups(1), spec, 1)
    learner.save(tmp_path / "c")
    stored = dict(AutoModelForCausalLM.from_pretrained(tmp_path / "c").named_parameters())
    for name, weight in learner.weights().items():
        assert np.array_equal(stored[name].detach().numpy(), weight)
    assert [path.name for path in (tmp_path / "c").glob("*.safetensors")] == ["model.safetensors"]
    assert sorted(path.name for path in (tmp_path / "c" / "adapter").iterdir()) == [
        "adapter_config.json",
        "adapter_model.safetensors",
    ]
    told = json.loads((tmp_path / "c" / "adapter" / "adapter_config.json").read_text())
    assert (told["r"], told["lora_alpha"], told["base_model_name_or_path"]) == (4, 8, "tiny")
    base = AutoModelForCausalLM.from_pretrained(policy_dir)
    ids = torch.arange(12).unsqueeze(0)
    theirs = PeftModel.from_pretrained(base, tmp_path / "c" / "adapter")(input_ids=ids).logits
    merged = AutoModelForCausalLM.from_pretrained(tmp_path / "c")(input_ids=ids).logits
    torch.testing.assert_close(theirs, merged, rtol=1e-4, atol=1e-5)
    # A fork from it is a policy like any other.
    fork = Learner(tmp_path / "c", make_spec()).weights()
    assert all(np.array_equal(fork[name], weight) for name, weight in learner.weights().items())


def test_checkpoints_of_another_kind_or_base_are_refused(policy_dir: Path, tmp_path: Path) -> None:
    spec = lora_spec()
    learner, whole = Learner(policy_dir, spec), Learner(policy_dir, make_spec())
    learner.update(make_groups(1), spec, 1)
    learner.save(tmp_path / "adapted")
    whole.save(tmp_path / "whole")
    before = learner.weights()
    with pytest.raises(CheckpointError, match="was written without an adapter"):
        learner.load(tmp_path / "whole")
    with pytest.raises(CheckpointError, match="trained with an adapter, and this run trains all"):
        Learner(policy_dir, make_spec()).load(tmp_path / "adapted")
    other = Path(shutil.copytree(policy_dir, tmp_path / "other"))
    model = AutoModelForCausalLM.from_pretrained(other)
    model.model.layers[2].mlp.up_proj.weight.data[3, 5] += 0.1
    model.save_pretrained(other)
    with pytest.raises(CheckpointError, match=r"layers\.2\.mlp\.up_proj\.weight shows .* another base policy"):
        Learner(other, spec).load(tmp_path / "adapted")
    matrices = tmp_path / "adapted" / "adapter" / "adapter_model.safetensors"
    matrices.write_bytes(matrices.read_bytes()[:-4])
    with pytest.raises(CheckpointError, match="was changed"):
        learner.load(tmp_path / "adapted")
    matrices.unlink()
    write_manifest(tmp_path / "adapted")
    with pytest.raises(CheckpointError, match="is missing"):
        learner.load(tmp_path / "adapted")
    assert all(np.array_equal(before[name], weight) for name, weight in learner.weights().items())


@pytest.mark.expensive(2, "builds a learner and steps it", about=ABOUT)
@pytest.mark.parametrize("kind", ["head", "separate"])
def test_a_critic_trains_beside_it(policy_dir: Path, tmp_path: Path, kind: str) -> None:
    parts = {"advantage": {"type": "gae"}, "critic": {"type": kind}, "filters": []}
    spec = lora_spec(**parts)
    learner = Learner(policy_dir, spec)
    for step in (1, 2):
        groups = make_groups(step)
        for index, trajectory in enumerate(t for group in groups for t in group.trajectories):
            trajectory.verdict = Verdict(float(index % 2))
        metrics = learner.update(groups, spec, step)
        assert np.isfinite(metrics["critic/vf_loss"]) and metrics["actor/grad_norm"] > 0
    heads = [weight for name, weight in learner._engine.weights().items() if name.startswith("value_head.")]
    assert (kind == "head") == any(float(weight.abs().max()) > 0 for weight in heads)
    learner.save(tmp_path / "c")
    resumed = Learner(policy_dir, spec)
    resumed.load(tmp_path / "c")
    ours, theirs = learner._engine.weights(), resumed._engine.weights()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_a_moving_average_keeps_merged_weights(policy_dir: Path) -> None:
    spec = lora_spec(proximal={"type": "ewma", "decay": 0.0})
    learner = Learner(policy_dir, spec)
    learner.update(make_groups(1), spec, 1)
    kept = learner._parts.proximal.tensors()
    for name, weight in learner.weights().items():
        np.testing.assert_allclose(kept[name].numpy(), weight, atol=1e-7)


def test_layers_that_are_not_there_are_refused_and_named(policy_dir: Path) -> None:
    for name in ("lm_head", "c_attn"):
        with pytest.raises(UnsupportedPolicy, match=rf"no linear layer '{name}' to adapt; it has down_proj, gate_proj"):
            adapted(policy_dir, target_modules=("q_proj", name))
    model, _ = adapted(policy_dir, target_modules=("q_proj", "v_proj"))
    assert {n.split(".")[-4] for n, p in model.named_parameters() if p.requires_grad} == {"q_proj", "v_proj"}


def test_ranks_begin_with_the_same_matrices(policy_dir: Path) -> None:
    state = torch.get_rng_state()
    one, other = raw(adapted(policy_dir)[0]), raw(adapted(policy_dir)[0])
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert not torch.equal(
        one["model.layers.0.self_attn.q_proj.lora_A.default.weight"],
        raw(adapted(policy_dir, seed=4)[0])["model.layers.0.self_attn.q_proj.lora_A.default.weight"],
    )
    assert torch.equal(state, torch.get_rng_state())


def test_rounding_that_knows_no_adapter_is_refused() -> None:
    with pytest.raises(ValidationError, match="an adapter's matrices are separate"):
        lora_spec(precision={"type": "half"})


def test_a_reference_that_cannot_be_renewed_is_refused() -> None:
    with pytest.raises(ValidationError, match="the reference is the policy's own frozen weights"):
        lora_spec(kl={"coefficient": 0.1, "reset_steps": 3})


def test_experts_rest_where_other_layers_have_the_names_of_theirs(tmp_path: Path) -> None:
    """peft takes ``down_proj`` of a dense layer for a joint tensor of experts, which nobody could merge."""
    base = make_tiny("deepseek_v2", tmp_path / "mixture")
    learner = Learner(base, lora_spec(0))
    assert set(learner.weights()) == set(load_file(base / "model.safetensors"))
    with pytest.raises(UnsupportedPolicy, match="no linear layer 'down_proj' to adapt; it has kv_a_proj_with_mqa"):
        Learner(base, lora_spec(policy={"base": "tiny", "adapter": {**LORA, "target_modules": ["down_proj"]}}))
