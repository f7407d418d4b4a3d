"""MC-GRPO advantage (arXiv 2601.22582): the median of G + 1 samples is the baseline, and its sample is left out."""

import torch
from torch import Tensor

from trainer_core.methods.advantages.group import above, centred_on_group, deviation, has_signal
from trainer_core.methods.advantages.inputs import Inputs
from trainer_core.spec.methods.advantage import MCGRPOAdvantage


def mc_grpo(spec: MCGRPOAdvantage, rewards: Tensor, mask: Tensor, inputs: Inputs) -> Tensor:
    """``A_i = (r_i − median(r)) / (scale + ε)`` within each group [G, S]; 0 outside the mask."""
    middle = _median(rewards, mask)
    centred = above(rewards, middle, mask)
    match spec.scale:
        case "none":
            return centred
        case "mad":
            scale = _median((rewards - middle).abs(), mask)
        case "std":
            scale = deviation(centred_on_group(rewards, mask), mask, "sample")
    return centred / (scale + spec.epsilon)


def pivots(rewards: Tensor, mask: Tensor) -> Tensor:
    """The one sample of each group whose reward is the median, bool [G, S].

    The first one if several are equal; none in a group without signal, where all samples have the same reward.
    """
    found = mask & (rewards == _median(rewards, mask)) & has_signal(rewards, mask)
    return found & (found.cumsum(dim=1) == 1)


def _median(values: Tensor, mask: Tensor) -> Tensor:
    """Median of each group → [G, 1], the lower of two middle values; 0 for an empty group."""
    ordered = values.masked_fill(~mask, float("inf")).sort(dim=1).values
    count = mask.sum(dim=1, keepdim=True)
    middle = ordered.gather(1, (count - 1).clamp(min=0) // 2)
    return torch.where(count > 0, middle, torch.zeros_like(middle))
