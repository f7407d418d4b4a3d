"""Off-policy sequence masking (DeepSeek-V3.2, arXiv 2512.02556)."""

import torch
from torch import Tensor

from trainer_core.methods.masked import masked_mean
from trainer_core.methods.ragged import sequence_mean
from trainer_core.methods.view import TokenView
from trainer_core.spec.methods.corrections import OffPolicySequenceMasking


@torch.no_grad()
def opsm(spec: OffPolicySequenceMasking, view: TokenView) -> tuple[Tensor, dict[str, Tensor]]:
    """0 for tokens of negative advantage whose sequence has drifted by more than δ, else 1: [N].

    The drift is measured from the policy that sampled to the current one, so it includes both mismatch and staleness.
    """
    divergence = sequence_mean(-view.log_behaviour_ratio, view.mask, view.sequence)
    left_out = (view.advantages < 0) & (divergence > spec.divergence_max)
    weights = (~left_out).to(view.advantages.dtype)
    return weights, {"rollout_corr/opsm_masked_share": masked_mean(1 - weights, view.mask)}
