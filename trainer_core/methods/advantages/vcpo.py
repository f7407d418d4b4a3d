"""VCPO's off-policy baseline (arXiv 2602.17616): least variance of the importance-weighted gradient."""

from torch import Tensor

from trainer_core.methods.advantages.group import above, weighted_mean
from trainer_core.methods.advantages.inputs import Inputs
from trainer_core.spec.methods.advantage import VCPOAdvantage


def vcpo(spec: VCPOAdvantage, rewards: Tensor, mask: Tensor, inputs: Inputs) -> Tensor:
    """``A_i = r_i − Σ w²·L·r / Σ w²·L`` within each group.

    With gradient ``w_i·(r_i − b)·g_i`` of sample i, the variance over samples is least for
    ``b = E[w²‖g‖²r] / E[w²‖g‖²]``; ‖g‖² is taken as proportional to the length.

    Args:
        spec: the largest weight.
        rewards: shape [groups, samples].
        mask: shape [groups, samples]; samples outside it do not count.
        inputs: the inputs of which lengths and importance are looked at. An importance w of 0 is that of a sample
            whose weight is
            unknown: it does not shape the baseline.
    """
    lengths, importance = inputs.lengths_like(rewards), inputs.importance_like(rewards)
    weights = (importance.clamp(max=spec.ratio_max).square() * lengths * mask).to(rewards.dtype)
    known = weights.sum(dim=1, keepdim=True) > 0
    return above(rewards, weighted_mean(rewards, weights), mask & known)
