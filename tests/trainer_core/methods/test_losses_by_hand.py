"""Each loss at tokens whose numbers fit on paper: value, slope by log π, and metrics."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from trainer_core.methods import losses
from trainer_core.methods.view import TokenView
from trainer_core.spec.methods.loss import (
    CISPOLoss,
    DecoupledPPOLoss,
    DPPOLoss,
    GSPOLoss,
    KLPenalisedLoss,
    Loss,
    MinPROLoss,
    SAPOLoss,
    SequenceMaskLoss,
    VESPOLoss,
)

LOG_PI = -2.0


def vector(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def evaluate(
    spec: Loss,
    ratios: list[float],
    advantages: list[float],
    *,
    mismatch: list[float] | None = None,
    sequence: list[int] | None = None,
    log_pi: float = LOG_PI,
) -> tuple[list[float], list[float], dict[str, float]]:
    """Losses, d Σ loss / d log π, metrics; ``ratios`` are π / π_old, ``mismatch`` is π_old / π_behaviour (1)."""
    size = len(ratios)
    logprobs = torch.full((size,), log_pi, dtype=torch.float64, requires_grad=True)
    old = logprobs.detach() - vector(*ratios).log()
    behaviour = old - vector(*(mismatch or [1.0] * size)).log()
    mask, where = torch.ones(size, dtype=torch.bool), torch.tensor(sequence or [0] * size)
    values, metrics = losses.token_loss(spec, TokenView(logprobs, old, behaviour, vector(*advantages), mask, where))
    (slopes,) = torch.autograd.grad(values.sum(), logprobs)
    return values.tolist(), slopes.tolist(), {name: value.item() for name, value in metrics.items()}


def close(*values: float) -> Any:
    return pytest.approx(list(values), rel=1e-12, abs=1e-14)


def test_cispo_clips_the_weight_and_keeps_every_gradient() -> None:
    values, slopes, metrics = evaluate(
        CISPOLoss(ratio_min=0.5, ratio_max=2.0), [1.0, 3.0, 3.0, 0.1, 3.0], [1, 1, -1, -1, 0]
    )
    assert values == close(2.0, 4.0, -4.0, -1.0, 0.0)
    assert slopes == close(-1.0, -2.0, 2.0, 0.5, 0.0)
    # PPO would have stopped the second and the fourth token. The last has no advantage, so nothing binds there.
    assert metrics["actor/clip_high_share"] == 2 / 5
    assert metrics["actor/clip_low_share"] == 1 / 5
    assert metrics["actor/pg_clipfrac"] == 3 / 5


def test_gspo_takes_the_length_out_of_the_ratio() -> None:
    # log s = (log 4 + log 1) / 2: s = 2, whatever the single ratios are.
    values, slopes, _ = evaluate(GSPOLoss(ratio_min=0.5, ratio_max=3.0), [4.0, 1.0], [1, 1])
    assert values == close(-2.0, -2.0)
    assert slopes == close(-2.0, -2.0)  # each token has half of the slope of two values


def test_gspo_clips_whole_sequences() -> None:
    values, slopes, metrics = evaluate(
        GSPOLoss(ratio_min=0.9, ratio_max=1.5), [4.0, 1.0, 1.0], [1, 1, -1], sequence=[0, 0, 1]
    )
    assert values == close(-1.5, -1.5, 1.0)
    assert slopes == close(0.0, 0.0, 1.0)
    assert metrics["actor/clip_high_share"] == pytest.approx(2 / 3)


def test_the_token_form_of_gspo_lets_each_advantage_meet_its_own_token() -> None:
    _, slopes, _ = evaluate(GSPOLoss(ratio_min=0.5, ratio_max=3.0, level="token"), [4.0, 1.0], [1, -3])
    assert slopes == close(-2.0, 6.0)
    _, slopes, _ = evaluate(GSPOLoss(ratio_min=0.5, ratio_max=3.0), [4.0, 1.0], [1, -3])
    assert slopes == close(2.0, 2.0)


def test_sapo_fades_on_both_sides_of_one() -> None:
    spec = SAPOLoss(temperature_positive=2.0, temperature_negative=4.0)
    values, slopes, metrics = evaluate(spec, [1.0, 2.0, 2.0, 1.0], [1, 1, -1, -1])
    gate = {tau: 1 / (1 + math.exp(-tau)) for tau in (2, 4)}
    assert values == close(-1.0, -2 * gate[2], gate[4], 0.5)
    fading = [4 * gate[tau] * (1 - gate[tau]) for tau in (2, 4)]
    assert slopes == close(-1.0, -2 * fading[0], 2 * fading[1], 1.0)
    assert metrics["actor/gate_mean"] == pytest.approx((2 + sum(fading)) / 4)


@pytest.mark.parametrize(
    ("divergence", "now", "then"),
    [("tv", 0.6, 0.35), ("tv", 0.05, 0.3), ("kl", 0.6, 0.3), ("kl", 0.1, 0.4)],
)
def test_dppo_stops_only_what_goes_further_away(divergence: Any, now: float, then: float) -> None:
    spec = DPPOLoss(divergence=divergence, divergence_max=0.1 if divergence == "kl" else 0.2)
    outward = 1.0 if now > then else -1.0
    for advantage, weight in ((outward, 0.0), (-outward, now / then), (0.0, 0.0)):
        _, slopes, metrics = evaluate(spec, [now / then], [advantage], log_pi=math.log(now))
        assert slopes == close(-weight * advantage)
        assert metrics["actor/pg_clipfrac"] == float(advantage == outward)


def test_dppo_lets_improbable_tokens_grow() -> None:
    # Ten times likelier, yet only 0.009 of probability has moved: PPO would have stopped it at 1.2.
    _, slopes, metrics = evaluate(DPPOLoss(), [10.0], [1.0], log_pi=math.log(0.01))
    assert slopes == close(-10.0)
    assert metrics["actor/pg_clipfrac"] == 0.0


@pytest.mark.parametrize("divergence", ["tv", "kl"])
def test_dppo_knows_certain_and_impossible_tokens(divergence: Any) -> None:
    spec = DPPOLoss(divergence=divergence, divergence_max=0.1)
    for now, then, advantage, kept in ((0.0, 0.0, 1.0, 1.0), (0.0, -1.0, 1.0, 0.0), (-1.0, 0.0, -1.0, 0.0)):
        view = TokenView(vector(now).requires_grad_(), vector(then), vector(then), vector(advantage), *masks(1))
        values, _ = losses.token_loss(spec, view)
        (slope,) = torch.autograd.grad(values.sum(), view.logprobs)
        assert slope.item() == -kept * advantage


def masks(size: int) -> tuple[Tensor, Tensor]:
    return torch.ones(size, dtype=torch.bool), torch.zeros(size, dtype=torch.int64)


def test_decoupled_ppo_clips_around_one_policy_and_weighs_against_another() -> None:
    spec = DecoupledPPOLoss(ratio_min=0.8, ratio_max=1.2, weight_max=5.0)
    values, slopes, metrics = evaluate(spec, [1.0, 1.5, 1.0, 1.0], [1, 1, 1, -1], mismatch=[2.0, 2.0, 6.0, 0.5])
    assert values == close(-2.0, -2.4, 0.0, 0.5)
    assert slopes == close(-2.0, 0.0, 0.0, 0.5)
    assert metrics["rollout_corr/rollout_is_masked_share"] == 1 / 4
    assert metrics["actor/clip_high_share"] == 1 / 4


def test_minpro_weighs_by_the_least_ratio_before() -> None:
    _, slopes, metrics = evaluate(
        MinPROLoss(ratio_max=3.0), [2.0, 0.5, 3.0, 4.0, 2.0], [-1] * 5, sequence=[0, 0, 0, 1, 1]
    )
    # 2; 0.5 · 2; 3 · 0.5; then a new sequence: 4, cut to 3; 2 · 4, cut to 3.
    assert slopes == close(2.0, 1.0, 1.5, 3.0, 3.0)
    assert metrics["actor/clip_high_share"] == pytest.approx(2 / 5)
    _, slopes, metrics = evaluate(MinPROLoss(ratio_min=0.7, ratio_max=3.0), [0.2, 1.0], [-1, -1])
    assert slopes == close(0.7, 0.7)
    assert metrics["actor/clip_low_share"] == 1.0


def test_vespo_is_one_on_policy_and_fades_on_both_sides() -> None:
    for ratios, whole in (([1.0, 1.0], 1.0), ([2.0, 1.5], 3.0), ([0.5, 0.5], 0.25)):
        for advantage, power, rate in ((1.0, 2.0, 3.0), (-1.0, 3.0, 2.0)):
            weight = whole**power * math.exp(rate * (1 - whole))
            _, slopes, metrics = evaluate(VESPOLoss(), ratios, [advantage] * 2)
            assert slopes == close(-weight * advantage, -weight * advantage)
            assert metrics["actor/gate_mean"] == pytest.approx(weight)


def test_a_sequence_is_masked_whole() -> None:
    spec = SequenceMaskLoss(ratio_min=0.5, ratio_max=2.0)
    values, slopes, metrics = evaluate(spec, [2.5, 1.0, 1.5, 2.0, 0.4], [1, 1, 1, -1, -1], sequence=[0, 0, 1, 1, 2])
    assert values == close(0.0, 0.0, -1.5, 2.0, 0.0)
    assert slopes == close(0.0, 0.0, -1.5, 2.0, 0.0)
    assert metrics["actor/pg_clipfrac"] == pytest.approx(3 / 5)


def test_a_sequence_is_masked_for_its_mean_divergence() -> None:
    divergence = (1.5 - 1 - math.log(1.5)) / 2
    for bound, kept in ((divergence * 1.01, 1.0), (divergence * 0.99, 0.0)):
        _, slopes, _ = evaluate(SequenceMaskLoss(divergence_max=bound), [1.5, 1.0], [1, 1])
        assert slopes == close(-1.5 * kept, -1.0 * kept)


def test_the_penalty_brings_a_token_to_rest() -> None:
    values, slopes, _ = evaluate(KLPenalisedLoss(coefficient=3.0), [1.0, 1.5, 2.0, 0.75], [1, 1, 1, -1])
    assert values == close(
        -1.0, -1.5 + 3 * (0.5 - math.log(1.5)), -2 + 3 * (1 - math.log(2)), 0.75 - 0.75 - 3 * math.log(0.75)
    )
    # At β / (β − A) = 1.5, and at 0.75 for A = −1, the slope −ρA + β(ρ − 1) is zero; beyond, it pulls back.
    assert slopes == close(-1.0, 0.0, 1.0, 0.0)
