"""VCPO's off-policy baseline (arXiv 2602.17616): minimum variance of the importance-weighted gradient."""

from torch import Tensor

from trainer_core.methods.advantages.group import above, weighted_mean
from trainer_core.methods.advantages.inputs import Inputs
from trainer_core.spec.methods.advantage import VCPOAdvantage


def vcpo(spec: VCPOAdvantage, rewards: Tensor, mask: Tensor, inputs: Inputs) -> Tensor:
    """``A_i = r_i − Σ w²·L·r / Σ w²·L`` within each group.

    With gradient ``w_i·(r_i − b)·g_i`` of sample i, the variance over samples is minimal for
    ``b = E[w²‖g‖²r] / E[w²‖g‖²]``; ‖g‖² is assumed proportional to the length.

    Args:
        spec: the largest weight.
        rewards: shape [groups, samples].
        mask: shape [groups, samples]; samples outside it are ignored.
        inputs: only lengths and importance are used. An importance w of 0 marks a sample of unknown weight, which does
            not affect the baseline.
    """
    lengths, importance = inputs.lengths_like(rewards), inputs.importance_like(rewards)
    weights = (importance.clamp(max=spec.ratio_max).square() * lengths * mask).to(rewards.dtype)
    known = weights.sum(dim=1, keepdim=True) > 0
    return above(rewards, weighted_mean(rewards, weights), mask & known)
