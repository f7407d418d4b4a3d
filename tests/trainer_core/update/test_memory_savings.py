"""bfloat16 weights with float32 masters, 8-bit moments, offload: the update stays what it is, or is refused."""

import math
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from torch import Tensor, nn

from tests.support.about import LEARNING
from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.episodes import Credit
from trainer_core.spec import RunSpec
from trainer_core.update.capabilities import MissingCapability, require
from trainer_core.update.learner import Learner, NonFiniteUpdate
from trainer_core.update.model.policy import load_policy, score
from trainer_core.update.model.storage import HostMemory
from trainer_core.update.optimization.engine import UpdateEngine, _config, init_process_group
from trainer_core.update.packed.packing import pack

MICRO_BATCHES = 512
ROUNDED = {"engine": {"max_model_len": 128, "quantization": {"type": "fp8"}}, "max_tokens": 60}


def bf16_spec(stage: int, **parts: Any) -> RunSpec:
    return make_spec(**{"policy": {"base": "tiny", "dtype": "bfloat16"}, "parallelism": {"zero_stage": stage}, **parts})


class Slopes(nn.Module):
    """Its loss has any gradient one likes."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(32, 32))

    def forward(self, slopes: Tensor) -> Tensor:
        return (self.weight * slopes.to(self.weight.dtype)).sum()


@pytest.mark.expensive(5, "builds a learner and steps it", about=LEARNING)
@pytest.mark.parametrize("stage", [0, 1, 2, 3])
def test_gradients_of_many_micro_batches_add_up_in_float32(stage: int) -> None:
    init_process_group(0, 1, None, torch.device("cpu"))
    engine = UpdateEngine(Slopes(), bf16_spec(stage, optimizer={"learning_rate": 1.0, "beta1": 0.5}), world_size=1)
    generator = torch.Generator().manual_seed(0)
    exact, naive = torch.zeros(32, 32, dtype=torch.float64), torch.zeros(32, 32, dtype=torch.bfloat16)
    for _ in range(MICRO_BATCHES):
        slopes = (0.75 + torch.randn(32, 32, generator=generator) / 64).bfloat16()
        engine.backward(engine.forward(slopes))
        exact += slopes.double()
        naive += slopes
    norm = engine.step(1e-3, 1e9)
    assert norm == pytest.approx(float(exact.norm()), rel=1e-5)
    # exp_avg after one step is (1 − β1)·g.
    found = 2.0 * engine.moments()["exp_avg.weight"].double()
    torch.testing.assert_close(found, exact, rtol=1e-5, atol=1e-4)
    # Added up in bfloat16, whose numbers above 256 are 2 apart, later micro-batches would be lost.
    assert float((naive.double() - exact).abs().mean() / exact.mean()) > 0.2


@pytest.mark.expensive(8, "builds a learner and steps it", about=LEARNING)
@pytest.mark.parametrize("stage", [0, 1, 2, 3])
def test_masters_hear_of_steps_that_bfloat16_cannot_show(policy_dir: Path, tmp_path: Path, stage: int) -> None:
    small = {"learning_rate": 1e-6}
    spec = bf16_spec(stage, optimizer=small)
    learner = Learner(policy_dir, spec)
    before, published = learner._engine.weights(), learner.weights()
    metrics = learner.update(make_groups(1), spec, 1)
    assert math.isfinite(metrics["actor/loss"]) and metrics["actor/grad_norm"] > 0
    name = "model.layers.0.mlp.up_proj.weight"
    moved = (learner._engine.weights()[name] - before[name]).abs()
    assert moved.dtype == torch.float32 and 0 < float(moved.max()) < 2e-6
    # What engines get is what the learner computes with: numbers of bfloat16.
    weight = torch.from_numpy(learner.weights()[name])
    assert torch.equal(weight, weight.bfloat16().float())
    assert (weight.numpy() != published[name]).mean() < 0.1
    learner.save(tmp_path / "c")
    resumed = Learner(policy_dir, spec)
    resumed.load(tmp_path / "c")
    for step in (2, 3):
        assert resumed.update(make_groups(step), spec, step) == learner.update(make_groups(step), spec, step)
    ours, theirs = learner._engine.weights(), resumed._engine.weights()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    poisoned = make_groups(4)
    poisoned[0].trajectories[0].credit = Credit(math.nan)
    with pytest.raises(NonFiniteUpdate):
        learner.update(poisoned, spec, 4)
    assert all(torch.equal(ours[name], weight) for name, weight in learner._engine.weights().items())


def test_bfloat16_learns_nearly_as_float32_does(policy_dir: Path) -> None:
    kl = {"coefficient": 0.1}
    wide, narrow = make_spec(kl=kl), bf16_spec(2, kl=kl)
    expected = Learner(policy_dir, wide).update(make_groups(1), wide, 1)
    learner = Learner(policy_dir, narrow)
    found = learner.update(make_groups(1), narrow, 1)
    assert found["actor/grad_norm"] == pytest.approx(expected["actor/grad_norm"], rel=0.05)
    assert found["actor/entropy"] == pytest.approx(expected["actor/entropy"], abs=0.02)
    # Policy and reference round alike: at the beginning there is no distance.
    assert found["actor/kl_loss"] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.expensive(3, "builds a learner and steps it", about=LEARNING)
@pytest.mark.parametrize("stage", [0, 1, 2, 3])
def test_the_step_is_adamw_of_float32_masters_under_bfloat16_gradients(stage: int) -> None:
    """Against float64: gradients rounded once a micro-batch, then added up, clipped and stepped on the master."""
    init_process_group(0, 1, None, torch.device("cpu"))
    rate, beta1, beta2, epsilon, decay, bound = 1e-3, 0.8, 0.9, 1e-6, 0.1, 2.0
    optimizer = {"learning_rate": 1.0, "beta1": beta1, "beta2": beta2, "epsilon": epsilon, "weight_decay": decay}
    module, generator = Slopes(), torch.Generator().manual_seed(1)
    with torch.no_grad():
        module.weight.copy_(torch.randn(32, 32, generator=generator).bfloat16())
    if stage == 0:
        module.bfloat16()
    engine = UpdateEngine(module, bf16_spec(stage, optimizer=optimizer), world_size=1)
    master = module.weight.detach().double() if stage < 3 else engine.weights()["weight"].double()
    first, second = torch.zeros_like(master), torch.zeros_like(master)
    for step in range(1, 5):
        gradient = torch.zeros_like(master)
        for _ in range(3):
            slopes = torch.randn(32, 32, generator=generator).bfloat16()
            engine.backward(engine.forward(slopes))
            gradient += slopes.double()
        norm = engine.step(rate, bound, divisor=3.0)
        expected = gradient / 3.0
        assert norm == pytest.approx(float(expected.norm()), rel=1e-6)
        expected *= min(1.0, bound / float(expected.norm()))
        first, second = beta1 * first + (1 - beta1) * expected, beta2 * second + (1 - beta2) * expected**2
        master *= 1 - rate * decay
        master -= rate * (first / (1 - beta1**step)) / ((second / (1 - beta2**step)).sqrt() + epsilon)
        found = engine.weights()["weight"]
        torch.testing.assert_close(found.double(), master, rtol=0.0, atol=2e-6)
    assert not torch.equal(found, found.bfloat16().float())
    if stage < 3:
        assert module.weight.dtype == torch.bfloat16
        assert torch.equal(module.weight.detach(), found.bfloat16())


@pytest.mark.expensive(3, "builds a learner and steps it", about=LEARNING)
@pytest.mark.parametrize(
    "parts",
    [
        {"policy": {"base": "tiny", "dtype": "bfloat16", "adapter": {"type": "lora", "rank": 4, "alpha": 8}}},
        {"critic": {"type": "head"}, "advantage": {"type": "gae"}},
        {"critic": {"type": "separate"}, "advantage": {"type": "gae"}},
        {"proximal": {"type": "ewma", "decay": 0.9}},
        {"optimizer": {"learning_rate": 1e-3, "epsilon": 1e-3, "moment_bits": 8}},
    ],
    ids=["lora", "head", "critic", "ewma", "moments"],
)
def test_bfloat16_without_zero_goes_on_to_the_bit(policy_dir: Path, tmp_path: Path, parts: dict[str, Any]) -> None:
    if "moment_bits" in parts.get("optimizer", {}) and find_spec("bitsandbytes") is None:
        pytest.skip("bitsandbytes is not installed")
    spec = bf16_spec(0, **parts)
    wide = spec.model_copy(update={"policy": spec.policy.model_copy(update={"dtype": "float32"})})
    learner, exact = Learner(policy_dir, spec), Learner(policy_dir, wide)
    kinds = {name: parameter.dtype for name, parameter in learner._parts.model.named_parameters()}
    assert kinds["model.norm.weight"] == torch.bfloat16
    assert all(kind == torch.float32 for name, kind in kinds.items() if "lora" in name or "value_head" in name)
    for step in (1, 2):
        metrics, expected = learner.update(make_groups(step), spec, step), exact.update(make_groups(step), wide, step)
        assert metrics["actor/grad_norm"] == pytest.approx(expected["actor/grad_norm"], rel=0.05)
    learner.save(tmp_path / "c")
    resumed = Learner(policy_dir, spec)
    resumed.load(tmp_path / "c")
    for step in (3, 4):
        assert resumed.update(make_groups(step), spec, step) == learner.update(make_groups(step), spec, step)
    ours, theirs = learner._engine.weights(), resumed._engine.weights()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    assert all(np.array_equal(resumed.weights()[name], weight) for name, weight in learner.weights().items())


def test_a_moving_average_of_bfloat16_weights_hears_of_small_steps(policy_dir: Path) -> None:
    spec = bf16_spec(0, proximal={"type": "ewma", "decay": 0.99}, optimizer={"learning_rate": 1e-6})
    learner = Learner(policy_dir, spec)
    average = learner._parts.proximal
    before = average.tensors()["model.norm.weight"]
    learner.update(make_groups(1), spec, 1)
    moved = (average.tensors()["model.norm.weight"] - before).abs()
    assert moved.dtype == torch.float32 and 0.0 < float(moved.max()) < 1e-6


@pytest.mark.expensive(2, "builds a learner and steps it", about=LEARNING)
@pytest.mark.skipif(find_spec("bitsandbytes") is None, reason="bitsandbytes is not installed")
def test_eight_bit_moments_train_resume_and_take_a_quarter(policy_dir: Path, tmp_path: Path) -> None:
    from trainer_core.update.optimization.optimizer_8bit import moment

    smooth = {"learning_rate": 1e-3, "epsilon": 1e-3}
    spec, wide = make_spec(optimizer={**smooth, "moment_bits": 8}), make_spec(optimizer=smooth)
    learner, whole = Learner(policy_dir, spec), Learner(policy_dir, wide)
    for step in (1, 2, 3):
        metrics, expected = learner.update(make_groups(step), spec, step), whole.update(make_groups(step), wide, step)
        assert metrics["actor/grad_norm"] == pytest.approx(expected["actor/grad_norm"], rel=0.05)
    base = {name: tensor.detach() for name, tensor in load_policy(policy_dir).named_parameters()}
    ours, theirs = learner._engine.weights(), whole._engine.weights()
    for name, weight in theirs.items():
        if base[name].numel() >= 4096:
            assert float((ours[name] - weight).norm() / (weight - base[name]).norm()) < 0.1
    kept = learner._engine.moments()
    assert kept["exp_avg.model.embed_tokens.weight"].dtype == torch.uint8
    assert kept["exp_avg_sq.model.norm.weight"].dtype == torch.float32
    bytes_of = [
        sum(one.numel() * one.element_size() for one in made.moments().values())
        for made in (learner._engine, whole._engine)
    ]
    assert bytes_of[0] < 0.27 * bytes_of[1]
    parameter = dict(learner._parts.model.named_parameters())["model.embed_tokens.weight"]
    exact = whole._engine.moments()["exp_avg.model.embed_tokens.weight"]
    error = moment(learner._engine._optimizer, parameter, "exp_avg") - exact
    assert float(error.norm() / exact.norm()) < 0.1
    learner.save(tmp_path / "c")
    resumed = Learner(policy_dir, spec)
    resumed.load(tmp_path / "c")
    for step in (4, 5):
        assert resumed.update(make_groups(step), spec, step) == learner.update(make_groups(step), spec, step)
    assert all(np.array_equal(resumed.weights()[name], weight) for name, weight in learner.weights().items())
    learner._engine.forget_moments()
    assert float(moment(learner._engine._optimizer, parameter, "exp_avg").abs().max()) == 0.0
    assert learner._engine.optimizer_steps == 0


def test_what_the_host_keeps_for_the_backward_pass_changes_nothing(policy_dir: Path) -> None:
    (batch,) = pack([t for group in make_groups(1) for t in group.trajectories], 1 << 14)
    gradients = []
    for offloads in (False, True):
        model = load_policy(policy_dir, gradient_checkpointing=False).train()
        memory = HostMemory(model, pinned=False) if offloads else None
        (score(model, batch)[0] * batch.advantages).sum().backward()
        gradients.append({name: parameter.grad for name, parameter in model.named_parameters()})
    assert memory is not None and memory.moved > 50 * batch.num_tokens * 128 * 4
    assert all(torch.equal(gradient, gradients[1][name]) for name, gradient in gradients[0].items())
    before = memory.moved
    with torch.no_grad():
        score(model, batch)
    assert memory.moved == before


def test_a_cpu_has_nothing_to_offload() -> None:
    activations = make_spec(policy={"base": "tiny", "activation_offload": True})
    with pytest.raises(MissingCapability, match="activation_offload needs an accelerator: this learner runs on a CPU"):
        require(activations, torch.device("cpu"))
    moments = make_spec(optimizer={"offload": True}, parallelism={"zero_stage": 2})
    with pytest.raises(MissingCapability, match=r"optimizer\.offload needs an accelerator"):
        Learner("nowhere", moments)
    assert _config(moments, 1)["zero_optimization"]["offload_optimizer"] == {"device": "cpu", "pin_memory": True}
    assert "offload_optimizer" not in _config(make_spec(), 1)["zero_optimization"]


@pytest.mark.expensive(11, "builds a learner and steps it", about=LEARNING)
@pytest.mark.parametrize("stage", [1, 2, 3])
def test_offloaded_moments_make_the_same_update(
    policy_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: int
) -> None:
    """Without an accelerator DeepSpeed's offload moves nothing, but goes the way that it goes with one."""
    smooth, parallelism = {"learning_rate": 1e-3, "epsilon": 1e-3}, {"zero_stage": stage}
    spec = make_spec(optimizer={**smooth, "offload": True}, parallelism=parallelism)
    plain = make_spec(optimizer=smooth, parallelism=parallelism)
    monkeypatch.setattr("trainer_core.update.capabilities.require", lambda spec, device: None)
    offloaded, kept = Learner(policy_dir, spec), Learner(policy_dir, plain)
    for step in (1, 2):
        metrics = offloaded.update(make_groups(step), spec, step)
        assert metrics == pytest.approx(kept.update(make_groups(step), plain, step), rel=1e-4, abs=1e-6)
    for name, weight in kept.weights().items():
        np.testing.assert_allclose(offloaded.weights()[name], weight, atol=1e-6)
    offloaded.save(tmp_path / "c")
    resumed = Learner(policy_dir, spec)
    resumed.load(tmp_path / "c")
    assert resumed.update(make_groups(3), spec, 3) == offloaded.update(make_groups(3), spec, 3)
    poisoned = make_groups(4)
    poisoned[0].trajectories[0].credit = Credit(math.nan)
    with pytest.raises(NonFiniteUpdate):
        offloaded.update(poisoned, spec, 4)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trainer_core.update.capabilities.find_spec", lambda name: None)
    with pytest.raises(MissingCapability, match="pip install --no-deps bitsandbytes=="):
        require(make_spec(optimizer={"moment_bits": 8}), torch.device("cpu"))


@pytest.mark.parametrize(
    ("parts", "where"),
    [
        (
            {"policy": {"base": "tiny", "dtype": "bfloat16"}, "precision": {"type": "half"}},
            r"choose precision\.type = float32, or policy\.dtype = float32",
        ),
        (
            {"policy": {"base": "tiny", "dtype": "bfloat16"}, "rollout": ROUNDED},
            r"choose policy\.dtype = float32, or remove rollout\.engine\.quantization",
        ),
        ({"optimizer": {"moment_bits": 8}, "parallelism": {"zero_stage": 1}}, "splits the blocks"),
        ({"optimizer": {"offload": True}}, "ZeRO offloads what it partitions"),
    ],
)
def test_savings_that_exclude_one_another_are_refused(parts: dict[str, Any], where: str) -> None:
    with pytest.raises(ValidationError, match=where):
        make_spec(**parts)
