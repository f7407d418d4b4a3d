"""The pictures' weights against the gradients of the losses themselves."""

import math

import pytest
import torch

from tests.trainer_core.specs import spec as run_spec
from trainer_core.explain.band import bands
from trainer_core.methods.corrections import token_weights
from trainer_core.methods.losses import token_loss
from trainer_core.methods.view import TokenView
from trainer_core.spec.methods.corrections import (
    Correction,
    IcePopMasking,
    MaskedImportanceSampling,
    OffPolicySequenceMasking,
    TruncatedImportanceSampling,
)
from trainer_core.spec.methods.loss import (
    CISPOLoss,
    DecoupledPPOLoss,
    DPPOLoss,
    GSPOLoss,
    KLPenalisedLoss,
    Loss,
    MinPROLoss,
    PPOClipLoss,
    ReinforceLoss,
    SAPOLoss,
    SequenceMaskLoss,
    VESPOLoss,
)
from trainer_core.spec.methods.loss.dppo import PROBABILITY

RATIOS = [0.05, 0.3, 0.61, 0.79, 0.81, 0.9998, 1.0, 1.0002, 1.19, 1.27, 1.29, 1.61, 1.9]
LOSSES: list[Loss] = [
    PPOClipLoss(),
    PPOClipLoss(ratio_dual=1.5),
    ReinforceLoss(),
    CISPOLoss(ratio_min=0.5, ratio_max=1.3),
    GSPOLoss(),
    SAPOLoss(temperature_positive=3.0),
    DPPOLoss(),
    DPPOLoss(divergence="kl", divergence_max=0.05),
    DecoupledPPOLoss(),
    MinPROLoss(ratio_max=1.2),
    VESPOLoss(),
    SequenceMaskLoss(ratio_min=0.5, ratio_max=1.5),
    SequenceMaskLoss(divergence_max=0.05),
    KLPenalisedLoss(),
]


def view(ratio: float, advantage: float) -> TokenView:
    """One token whose probability has moved from ``PROBABILITY``."""
    before = torch.tensor([math.log(PROBABILITY)], dtype=torch.float64)
    return TokenView(
        logprobs=(before + math.log(ratio)).requires_grad_(),
        old_logprobs=before,
        behaviour_logprobs=before,
        advantages=torch.tensor([advantage], dtype=torch.float64),
        mask=torch.ones(1, dtype=torch.bool),
        sequence=torch.zeros(1, dtype=torch.long),
    )


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("spec", LOSSES, ids=lambda spec: spec.type)
def test_weight_of_a_loss_is_its_gradient(spec: Loss, sign: int, ratio: float) -> None:
    tokens = view(ratio, float(sign))
    values, _ = token_loss(spec, tokens)
    [gradient] = torch.autograd.grad(values.sum(), tokens.logprobs)
    assert spec.gradient_weight(ratio, sign) == pytest.approx(-float(gradient) / sign, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize(
    "spec",
    [
        TruncatedImportanceSampling(ratio_max=1.2),
        MaskedImportanceSampling(level="token", ratio_max=1.2),
        IcePopMasking(ratio_min=0.8, ratio_max=1.2),
    ],
    ids=lambda spec: spec.type,
)
def test_weight_of_a_correction_is_its_own(spec: Correction, ratio: float) -> None:
    before = torch.tensor([math.log(PROBABILITY)], dtype=torch.float64)
    moved = TokenView(
        logprobs=before,
        old_logprobs=before + math.log(ratio),
        behaviour_logprobs=before,
        advantages=torch.ones(1, dtype=torch.float64),
        mask=torch.ones(1, dtype=torch.bool),
        sequence=torch.zeros(1, dtype=torch.long),
    )
    weights, _ = token_weights(spec, moved)
    assert spec.gradient_weight(ratio) == pytest.approx(float(weights[0]), rel=1e-9)


def test_what_has_no_weight_by_a_ratio_has_no_band() -> None:
    assert OffPolicySequenceMasking().gradient_weight(1.5) is None
    several = run_spec(corrections=[{"type": "router_shift"}, {"type": "opsm"}], schedule={"updates_per_step": 2})
    assert [band.path for band in bands(several)] == ["loss"]
