"""CISPO: clipped importance-sampling weights (MiniMax-M1, arXiv 2506.13585, eq. 4)."""

from torch import Tensor

from trainer_core.methods.losses.one_pass import one_pass
from trainer_core.methods.losses.ratio import bounded_ratio, edge_metrics
from trainer_core.methods.view import TokenView
from trainer_core.spec.methods.loss import CISPOLoss


def cispo(spec: CISPOLoss, view: TokenView) -> tuple[Tensor, dict[str, Tensor]]:
    """``−sg(clip(ρ, ratio_min, ratio_max)) · A · log π``, shape [N]: no token loses its gradient."""
    if (found := one_pass("cispo", spec.ratio_min, spec.ratio_max, view)) is not None:
        return found
    ratio = bounded_ratio(view.log_ratio.detach())
    weight = ratio.clamp(spec.ratio_min, spec.ratio_max)
    metrics = edge_metrics(view, ratio > spec.ratio_max, ratio < spec.ratio_min)
    return -weight * view.advantages * view.logprobs, metrics
