"""The learner's formats: straight-through gradients, float16 without underflow, and flows that change for the probe."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from transformers import MixtralConfig, MixtralForCausalLM, PreTrainedModel

from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.episodes import Verdict
from trainer_core.starter.architectures import make_tiny
from trainer_core.update.formats import precision
from trainer_core.update.formats.precision import Flow, Flows, as_engine
from trainer_core.update.formats.quantise import Scales, activation_tile, rounded, weight_tile
from trainer_core.update.learner import Learner
from trainer_core.update.model.policy import load_policy, score
from trainer_core.update.packed.attention import UnsupportedPolicy
from trainer_core.update.packed.packing import Packing, pack
from trainer_core.update.recording import as_trajectory

HALF = Flow(torch.float16)
SEQUENCES = [[3, 9, 27, 41, 4, 12], list(range(2, 40))]


class _Out:
    """What a model's layers hand on."""

    def __init__(self, last_hidden_state: Tensor) -> None:
        self.last_hidden_state = last_hidden_state


class _Layers(nn.Module):
    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> _Out:
        return _Out(self.inner(x))


class _Tiny(nn.Module):
    """As much of a policy as ``use_precision`` looks at."""

    base_model_prefix = "model"

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.model = _Layers(inner)

    def get_output_embeddings(self) -> None:
        return None

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.model(x).last_hidden_state
        return out


def prepared(inner: nn.Module, flow: Flow) -> Any:
    model: Any = _Tiny(inner)
    precision.use_precision(model, Flows(flow, flow))
    return model


@pytest.mark.parametrize("activations", [False, True])
@pytest.mark.parametrize("scales", ["block", "channel"])
def test_straight_through_gradient_of_fp8(scales: Scales, activations: bool) -> None:
    torch.manual_seed(0)
    layer = nn.Linear(200, 150)
    model = prepared(layer, Flow(fp8=scales, activations=activations))
    x = torch.randn(2, 7, 200, requires_grad=True)
    slope = torch.randn(2, 7, 150)
    y = model(x)
    (y * slope).sum().backward()
    # q(x) · q(W)ᵀ and its gradients by hand, in float64, as if q were the identity.
    w = rounded(layer.weight.detach(), weight_tile(scales, 200)).double()
    flat = x.detach().view(-1, 200)
    held = rounded(flat, activation_tile(scales, 200)).double() if activations else flat.double()
    g = slope.view(-1, 150).double()
    assert layer.weight.grad is not None and layer.bias.grad is not None and x.grad is not None
    torch.testing.assert_close(y.view(-1, 150).double(), held @ w.T + layer.bias.double(), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(x.grad.view(-1, 200).double(), g @ w, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(layer.weight.grad.double(), g.T @ held, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(layer.bias.grad.double(), g.sum(0), rtol=1e-5, atol=1e-5)
    assert layer.weight.grad.dtype == torch.float32


@pytest.mark.parametrize("factor", [1e-12, 1.0, 1e12])
def test_float16_gradients_neither_vanish_nor_overflow(factor: float) -> None:
    torch.manual_seed(0)
    inner = nn.Sequential(nn.Linear(16, 32), nn.SiLU(), nn.Linear(32, 8))
    x, slope = torch.randn(5, 16), torch.randn(5, 8)
    exact = [p.grad.double() for p in _backward(inner, inner, x, slope)]
    found = [p.grad.double() / factor for p in _backward(prepared(inner, HALF), inner, x, slope * factor)]
    for mine, theirs in zip(found, exact, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-2, atol=2e-3 * float(theirs.abs().max()))


def _backward(model: Any, inner: nn.Module, x: Tensor, slope: Tensor) -> list[Any]:
    inner.zero_grad()
    (model(x) * slope).sum().backward()
    return list(inner.parameters())


def test_gradients_that_are_zero_or_not_finite_stay_so() -> None:
    inner = nn.Linear(4, 3)
    model = prepared(inner, HALF)
    assert float(_backward(model, inner, torch.ones(2, 4), torch.zeros(2, 3))[0].grad.abs().sum()) == 0.0
    slope = torch.ones(2, 3)
    slope[0, 0] = torch.nan
    assert not bool(_backward(model, inner, torch.ones(2, 4), slope)[0].grad.isfinite().all())


@pytest.fixture(scope="module")
def exact(policy_dir: Path) -> tuple[Tensor, dict[str, Tensor]]:
    return scored(load_policy(policy_dir))


def scored(model: PreTrainedModel) -> tuple[Tensor, dict[str, Tensor]]:
    """Log-probabilities, and the gradient of a weighted sum."""
    batch = pack([as_trajectory(sequence) for sequence in SEQUENCES], Packing(4096, True))[0]
    logprobs, _ = score(model.train(), batch)
    (logprobs * torch.linspace(-1, 1, len(logprobs))).sum().backward()
    return logprobs.detach(), {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}


@pytest.mark.parametrize(
    ("flow", "near", "steep"),
    [
        (Flow(torch.float16), 2e-3, 0.02),
        (Flow(torch.bfloat16), 2e-2, 0.15),
        (Flow(fp8="block"), 0.1, 0.6),
        (Flow(fp8="channel", activations=False), 0.1, 0.6),
    ],
)
def test_a_whole_policy_in_other_formats(
    policy_dir: Path, exact: tuple[Tensor, dict[str, Tensor]], flow: Flow, near: float, steep: float
) -> None:
    model = load_policy(policy_dir, flows=Flows(flow, flow))
    assert all(parameter.dtype == torch.float32 for parameter in model.parameters())
    logprobs, gradients = scored(model)
    difference = float((logprobs - exact[0]).abs().max())
    assert 0.0 < difference < near
    assert gradients.keys() == exact[1].keys()
    for name, gradient in gradients.items():
        assert float((gradient - exact[1][name]).norm()) < steep * float(exact[1][name].norm()), name


def test_only_the_probe_is_scored_as_the_engine_computes(policy_dir: Path) -> None:
    plain, mixed = (load_policy(policy_dir, flows=flows) for flows in (None, Flows(Flow(), Flow(fp8="block"))))
    batch = pack([as_trajectory(SEQUENCES[1])], Packing(64, True))[0]
    with torch.no_grad():
        expected, found = score(plain, batch)[0], score(mixed, batch)[0]
        assert torch.equal(expected, found)
        with as_engine(mixed):
            rounded_ones = score(mixed, batch)[0]
        with as_engine(plain):
            assert torch.equal(score(plain, batch)[0], expected)
        assert float((rounded_ones - expected).abs().max()) > 1e-3
        assert torch.equal(score(mixed, batch)[0], expected)


@pytest.fixture(scope="module")
def experts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("experts")
    config = MixtralConfig(
        vocab_size=64, hidden_size=32, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=1, num_local_experts=2, max_position_embeddings=64,
    )  # fmt: skip
    MixtralForCausalLM(config).save_pretrained(folder)
    yield folder


def test_joint_experts_are_refused_where_they_would_be_rounded(experts: Path, tmp_path: Path) -> None:
    biased = make_tiny("gpt_oss", tmp_path)
    for folder, flows in ((experts, Flows(HALF, HALF)), (biased, Flows(Flow(), Flow(fp8="block")))):
        with pytest.raises(UnsupportedPolicy, match="belongs to neither a linear layer"):
            load_policy(folder, flows=flows)
    # A 16-bit engine beside a float32 learner goes on as ever.
    assert not hasattr(load_policy(experts, flows=Flows(Flow(), HALF)), "switch")


def test_experts_are_rounded_to_fp8_where_engines_are_and_learn_through_it(experts: Path) -> None:
    batch = pack([as_trajectory(SEQUENCES[1])], Packing(64, True))[0]
    plain, probed, unified = (
        load_policy(experts, flows=flows)
        for flows in (None, Flows(Flow(), Flow(fp8="block")), Flows(Flow(fp8="block"), Flow(fp8="block")))
    )
    expected = score(plain, batch)[0]
    assert torch.equal(score(probed, batch)[0], expected)
    rounded_ones = score(unified, batch)[0]
    with as_engine(probed), torch.no_grad():
        assert torch.equal(score(probed, batch)[0], rounded_ones)
    assert not torch.equal(rounded_ones, expected)
    for model, scores in ((plain, expected), (unified, rounded_ones)):
        scores.sum().backward()
        assert all(parameter.grad is not None for parameter in model.parameters())
    mine, theirs = (model.model.layers[0].mlp.experts.down_proj.grad.flatten() for model in (unified, plain))
    assert torch.nn.functional.cosine_similarity(mine, theirs, dim=0) > 0.98


@pytest.mark.parametrize(
    "parts",
    [
        {
            "precision": {"type": "half"},
            "critic": {"type": "head", "warmup_steps": 0},
            "advantage": {"type": "gae"},
            "filters": [],
        },
        {
            "precision": {"type": "unified"},
            "rollout": {
                "group_size": 4,
                "max_tokens": 60,
                "engine": {"max_model_len": 128, "quantization": {"type": "fp8"}},
            },
            "parallelism": {"zero_stage": 2},
            "kl": {"coefficient": 0.1},
        },
    ],
)
def test_a_learner_learns_in_its_format(policy_dir: Path, parts: dict[str, Any]) -> None:
    spec = make_spec(**parts)
    learner = Learner(policy_dir, spec)
    before = learner.weights()
    groups = make_groups(1)
    for number, trajectory in enumerate(trajectory for group in groups for trajectory in group.trajectories):
        trajectory.verdict = Verdict(float(number % 2))
    metrics = learner.update(groups, spec, 1)
    after = learner.weights()
    assert 0.0 < metrics["actor/grad_norm"] < 1e3
    assert all(tensor.dtype.name == "float32" for tensor in after.values())
    assert all(bool((after[name] != before[name]).any()) for name in before)
    if "kl" in parts:  # the reference is rounded as the policy is, and so the two begin as one
        assert metrics["actor/kl_loss"] == pytest.approx(0.0, abs=1e-6)


@torch.no_grad()
def test_scaled_embeddings_stay_scaled_in_fewer_bits(tmp_path: Path) -> None:
    """Gemma's embedding multiplies what it looks up; an engine's formats must not lose that."""
    model = load_policy(make_tiny("gemma3", tmp_path / "gemma"), flows=Flows(Flow(), Flow(torch.bfloat16)))
    (batch,) = pack([as_trajectory(ids) for ids in SEQUENCES], 128)
    wide, _ = score(model, batch)
    with as_engine(model):
        narrow, _ = score(model, batch)
    assert 0 < (wide - narrow).abs().mean() < 0.05


@pytest.mark.parametrize(
    ("name", "policy", "engine"),
    [("qwen3", "bfloat16", "bfloat16"), ("mixtral", "float32", "bfloat16")],
    ids=["weights in 16 bits", "joint experts beside 16 bits"],
)
def test_the_effect_of_roundings_grows_with_sharpness_where_float32_is_no_choice(
    tmp_path: Path, name: str, policy: str, engine: str
) -> None:
    settings = {"max_model_len": 128, "dtype": engine, "lm_head_dtype": "float32"}
    spec = make_spec(
        policy={"base": "tiny", "dtype": policy}, rollout={"group_size": 4, "max_tokens": 60, "engine": settings}
    )
    effects = []
    for sharpen in (1.0, 10.0):
        learner = Learner(make_tiny(name, tmp_path / str(sharpen), sharpen=sharpen), spec)
        scores, others = learner.score(SEQUENCES), learner.score_rounded_otherwise(SEQUENCES)
        assert others is not None and others == learner.score_rounded_otherwise(SEQUENCES)
        assert learner.score(SEQUENCES) == scores, "nothing stays behind"
        effects.append(float(np.abs(np.concatenate(scores) - np.concatenate(others)).mean()))
    assert 1e-5 < effects[0] < 0.2 and 3 < effects[1] / effects[0] < 30


def test_in_float32_nothing_is_rounded_otherwise(policy_dir: Path) -> None:
    assert Learner(policy_dir, make_spec()).score_rounded_otherwise(SEQUENCES) is None
