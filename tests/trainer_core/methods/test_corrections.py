"""Corrections: by hand, against plain Python, and what holds for all of them."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from pydantic import TypeAdapter, ValidationError
from torch import Tensor

from tests.trainer_core.batches import trajectory
from tests.trainer_core.methods.correction_formulas import written_out
from trainer_core.methods import corrections
from trainer_core.methods.view import TokenView
from trainer_core.metrics import find
from trainer_core.rollout_metrics import mismatch_metrics
from trainer_core.spec.methods.corrections import Correction

TRUNCATED, MASKED = "rollout_corr/rollout_is_truncated_share", "rollout_corr/rollout_is_masked_share"
SEQUENCE = torch.tensor([0, 0, 0, 1, 1, 2])
EVERY = torch.ones(6, dtype=torch.bool)
VARIANTS: list[dict[str, Any]] = [
    {"type": "truncated_is", "ratio_max": 1.2},
    {"type": "truncated_is", "ratio_max": 1.2, "level": "sequence"},
    {"type": "masked_is", "ratio_max": 1.2, "level": "token"},
    {"type": "masked_is", "ratio_max": 1.2},
    {"type": "icepop", "ratio_min": 0.8, "ratio_max": 1.3},
    {"type": "opsm", "divergence_max": 0.05},
    {"type": "geometric_mask", "ratio_min": 0.9, "ratio_max": 1.1},
]


def make(**values: Any) -> Correction:
    return TypeAdapter(Correction).validate_python(values)


def weights(ratios: list[float], mask: Tensor = EVERY, **values: Any) -> tuple[Tensor, dict[str, Tensor]]:
    """Weights and metrics for given ratios π_old / π_behaviour."""
    behaviour = torch.full((6,), -1.0, dtype=torch.float64)
    old = behaviour + torch.tensor(ratios, dtype=torch.float64).log()
    return corrections.token_weights(
        make(**values), TokenView(old, old, behaviour, torch.ones(6, dtype=torch.float64), mask, SEQUENCE)
    )


def test_truncated_token_ratios_are_cut_above_and_only_above() -> None:
    found, metrics = weights([0.1, 1.0, 1.9, 2.0, 2.1, 50.0], type="truncated_is")
    np.testing.assert_allclose(found, [0.1, 1.0, 1.9, 2.0, 2.0, 2.0])
    assert metrics == {TRUNCATED: pytest.approx(2 / 6)}


def test_a_sequences_product_is_truncated_once() -> None:
    # 4 · 0.25 · 1.5 = 1.5 stays although one factor is above the bound; 3 · 3 = 9 is cut.
    found, metrics = weights([4.0, 0.25, 1.5, 3.0, 3.0, 0.5], type="truncated_is", level="sequence")
    np.testing.assert_allclose(found, [1.5, 1.5, 1.5, 2.0, 2.0, 0.5])
    assert metrics == {TRUNCATED: pytest.approx(2 / 6)}


def test_masked_ratios_are_left_out_above_and_only_above() -> None:
    found, metrics = weights([0.1, 1.0, 2.9, 3.1, 50.0, 2.0], type="masked_is", level="token", ratio_max=3.0)
    np.testing.assert_allclose(found, [0.1, 1.0, 2.9, 0.0, 0.0, 2.0], rtol=1e-12)
    assert metrics == {MASKED: pytest.approx(2 / 6)}
    found, metrics = weights([4.0, 0.25, 1.5, 3.0, 3.0, 0.5], type="masked_is")
    np.testing.assert_allclose(found, [1.5, 1.5, 1.5, 0.0, 0.0, 0.5])
    assert metrics == {MASKED: pytest.approx(2 / 6)}


def test_icepop_keeps_the_band_and_its_weight() -> None:
    found, metrics = weights([0.1, 0.49, 0.51, 1.0, 4.9, 5.1], type="icepop")
    np.testing.assert_allclose(found, [0.0, 0.0, 0.51, 1.0, 4.9, 0.0])
    assert metrics == {MASKED: pytest.approx(3 / 6)}


def test_the_geometric_mean_keeps_or_leaves_out_whole_sequences() -> None:
    # 4 · 0.25 · 1.331 has the cube root 1.1; 3 · 0.4 = 1.2 the root 1.095; the band bounds means, not products.
    found, metrics = weights([4.0, 0.25, 1.331, 3.0, 0.4, 0.5], type="geometric_mask", ratio_min=0.9, ratio_max=1.0999)
    assert found.tolist() == [0, 0, 0, 1, 1, 0]
    assert metrics == {"rollout_corr/geometric_masked_share": pytest.approx(4 / 6)}
    found, _ = weights([1.05] * 3 + [0.95] * 3, type="geometric_mask", ratio_min=0.951, ratio_max=1.051)
    assert found.tolist() == [1, 1, 1, 0, 0, 0]
    with pytest.raises(ValidationError, match="leave no band"):
        make(type="geometric_mask", ratio_min=1.0, ratio_max=1.0)


def drifted(drift: list[float], advantages: list[float], mask: Tensor = EVERY, delta: float = 0.1) -> list[float]:
    """OPSM's weights for given log π_behaviour − log π_θ."""
    behaviour = torch.full((6,), -1.0, dtype=torch.float64)
    now = behaviour - torch.tensor(drift, dtype=torch.float64)
    view = TokenView(now, behaviour, behaviour, torch.tensor(advantages, dtype=torch.float64), mask, SEQUENCE)
    found, metrics = corrections.token_weights(make(type="opsm", divergence_max=delta), view)
    share = 1 - found[mask].mean().item()
    assert metrics == {"rollout_corr/opsm_masked_share": pytest.approx(share)}
    return found.tolist()


def test_opsm_leaves_out_bad_sequences_that_have_drifted() -> None:
    # Means: 0.2, 0.09, −3. Good sequences, and those that have become likelier, are kept.
    drift = [0.6, 0.0, 0.0, 0.18, 0.0, -3.0]
    assert drifted(drift, [-1.0] * 6) == [0, 0, 0, 1, 1, 1]
    assert drifted(drift, [1.0] * 6) == [1] * 6
    assert drifted(drift, [0.0] * 6) == [1] * 6
    assert drifted(drift, [-1.0] * 6, torch.tensor([False, True, True, True, True, True])) == [1] * 6


def test_opsm_looks_at_the_current_policy_and_the_engine() -> None:
    """Half of the drift lies between engine and learner, half in the step's updates."""
    behaviour = torch.zeros(6, dtype=torch.float64)
    spec, bad = make(type="opsm", divergence_max=0.15), -torch.ones(6, dtype=torch.float64)
    found, _ = corrections.token_weights(
        spec, TokenView(behaviour - 0.2, behaviour - 0.1, behaviour, bad, EVERY, SEQUENCE)
    )
    assert found.tolist() == [0.0] * 6


def batch(seed: int) -> TokenView:
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.tensor([5, 1, 8, 3, 6])
    sequence = torch.repeat_interleave(torch.tensor([4, 9, 0, 2, 7]), lengths)

    def noise(scale: float) -> Tensor:
        return scale * torch.randn(len(sequence), generator=generator, dtype=torch.float64)

    old = -1.0 + noise(0.5)
    mask = torch.rand(len(sequence), generator=generator) < 0.8
    return TokenView(old + noise(0.2), old, old + noise(0.3), noise(1.0), mask, sequence)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_agrees_with_plain_python(variant: dict[str, Any], seed: int) -> None:
    spec, view = make(**variant), batch(seed)
    found, metrics = corrections.token_weights(spec, view)
    expected = written_out(spec, view)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    counted = [weight for weight, counts in zip(expected, view.mask, strict=True) if counts]
    bound = [weight == (spec.ratio_max if spec.type == "truncated_is" else 0.0) for weight in counted]
    (share,) = metrics.values()
    assert share.item() == pytest.approx(sum(bound) / len(bound))
    assert all(find(name) for name in metrics)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_weight_multiplies_the_gradient_and_has_none(variant: dict[str, Any]) -> None:
    view = batch(0)
    logprobs = view.logprobs.clone().requires_grad_()
    moving = TokenView(logprobs, view.old_logprobs, view.behaviour_logprobs, view.advantages, view.mask, view.sequence)
    found, _ = corrections.token_weights(make(**variant), moving)
    assert not found.requires_grad
    (gradient,) = torch.autograd.grad((found * moving.logprobs)[view.mask].sum(), logprobs)
    torch.testing.assert_close(gradient, found * view.mask)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("broken", [float("nan"), float("inf"), -float("inf")])
def test_tokens_outside_the_mask_weigh_one_and_take_no_part(variant: dict[str, Any], broken: float) -> None:
    view, spec = batch(1), make(**variant)
    expected, metrics = corrections.token_weights(spec, view)
    filled = [v.masked_fill(~view.mask, broken) for v in (view.logprobs, view.old_logprobs, view.behaviour_logprobs)]
    found, numbers = corrections.token_weights(
        spec, TokenView(*filled, view.advantages.masked_fill(~view.mask, broken), view.mask, view.sequence)
    )
    assert found.tolist() == expected.tolist() and numbers == metrics
    assert (found[~view.mask] == 1.0).all()


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_same_policy_weighs_exactly_one(variant: dict[str, Any]) -> None:
    view = batch(0)
    same = TokenView(view.old_logprobs, view.old_logprobs, view.old_logprobs, view.advantages, view.mask, view.sequence)
    found, metrics = corrections.token_weights(make(**variant), same)
    assert found.tolist() == [1.0] * len(view.mask)
    assert all(value == 0.0 for value in metrics.values())


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_long_sequence_neither_overflows_nor_fails(variant: dict[str, Any], sign: float) -> None:
    zeros, old = torch.zeros(4000), torch.full((4000,), sign)
    view = TokenView(old, old, zeros, zeros - 1, torch.ones(4000, dtype=torch.bool), zeros.long())
    found, _ = corrections.token_weights(make(**variant), view)
    if variant["type"] == "truncated_is":
        low = 0.0 if variant.get("level") == "sequence" else math.exp(-1)
        assert found[0].item() == pytest.approx(1.2 if sign > 0 else low)
    else:
        assert torch.isfinite(found).all()


@pytest.mark.parametrize("variant", VARIANTS)
def test_an_empty_microbatch_is_accepted(variant: dict[str, Any]) -> None:
    empty = torch.zeros(0)
    found, metrics = corrections.token_weights(
        make(**variant), TokenView(empty, empty, empty, empty, empty.bool(), empty.long())
    )
    assert len(found) == 0 and all(value == 0.0 for value in metrics.values())


def test_the_inverted_band_of_k1() -> None:
    """verl applies its *_k1 bounds to engine / learner: "0.5_5.0" there keeps 0.2 to 2 of the ratio IcePop bounds."""
    found, _ = weights([0.21, 0.49, 1.0, 2.1, 4.9, 5.1], type="icepop", ratio_min=0.5, ratio_max=5.0)
    assert [weight > 0 for weight in found.tolist()] == [False, False, True, True, True, False]
    for first, second in pairwise(weights([0.6, 0.8, 1.0, 1.5, 3.0, 4.0], type="icepop")[0].tolist()):
        assert first < second


def test_degeneracy_that_truncation_would_hide() -> None:
    """verl takes the effective sample size of truncated weights: one token of a thousand that bears all hides there."""
    difference = np.zeros(1000, np.float32)
    difference[7] = math.log(1000.0)
    sampled = trajectory(length=1000, behaviour_logprobs=-10.0 - difference)
    sampled.learner_logprobs = np.full(1000, -10.0, np.float32)
    reported = mismatch_metrics([sampled], version=0)["rollout_corr/rollout_is_eff_sample_size"]
    ratios = torch.from_numpy(difference).double()
    view = TokenView(ratios, ratios, ratios * 0, ratios * 0, ratios > -1, ratios.long() * 0)
    truncated, metrics = corrections.token_weights(make(type="truncated_is"), view)
    assert reported == pytest.approx(0.004, rel=0.01)
    assert (truncated.mean() ** 2 / truncated.square().mean()).item() > 0.99
    assert metrics[TRUNCATED] == pytest.approx(1 / 1000)
