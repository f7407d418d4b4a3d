"""Router-shift weighting (RSPO, arXiv 2510.23027): tokens whose expert choice changed count less."""

import torch
from torch import Tensor

from trainer_core.methods.masked import masked_mean
from trainer_core.methods.view import TokenView
from trainer_core.spec.methods.corrections import RouterShiftWeighting


@torch.no_grad()
def router_log_shift(spec: RouterShiftWeighting, old_routes: Tensor, routes: Tensor) -> Tensor:
    """``log γ`` with ``γ = max(exp(−mean |log r_θ − log r_old|), floor)``, shape [N], at most 0.

    Args:
        spec: the floor.
        old_routes: log-probability of each expert that the proximal policy chose, by its own router, [N, L, K]: L
            layers with K experts each.
        routes: log-probabilities of the same experts by the current policy's router, [N, L, K].
    """
    distance = (routes - old_routes).abs().flatten(1).mean(dim=1)
    return (-distance).exp().clamp(min=spec.floor).log()


@torch.no_grad()
def router_shift(spec: RouterShiftWeighting, view: TokenView) -> tuple[Tensor, dict[str, Tensor]]:
    """1 for every token [N]: the ratio itself is rescaled (``TokenView.log_ratio``), before any clipping.

    Raises:
        ValueError: the old or the current routing is not known.
    """
    if view.log_shift is None:
        raise ValueError("router_shift needs the routing of the policy before and now")
    shift = masked_mean(view.log_shift.exp(), view.mask)
    return torch.ones_like(view.advantages), {"actor/router_shift": shift}
