"""IcePop: double-sided masking of engine mismatch (Ring-1T, arXiv 2510.18855)."""

import torch
from torch import Tensor

from trainer_core.methods.corrections.ratio import masked_share, raw_ratio
from trainer_core.methods.view import TokenView
from trainer_core.spec.methods.corrections import IcePopMasking


@torch.no_grad()
def icepop(spec: IcePopMasking, view: TokenView) -> tuple[Tensor, dict[str, Tensor]]:
    """``w = π_old / π_behaviour`` inside [ratio_min, ratio_max], else 0: [N], 1 outside the mask."""
    ratio = raw_ratio("token", view)
    left_out = (ratio < spec.ratio_min) | (ratio > spec.ratio_max)
    return ratio.masked_fill(left_out, 0.0), masked_share(left_out, view)
