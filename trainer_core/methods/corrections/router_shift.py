"""Router-shift weighting (RSPO, arXiv 2510.23027): ratios of tokens whose experts were chosen otherwise count less."""

import torch
from torch import Tensor

from trainer_core.spec.methods.corrections import RouterShiftWeighting


@torch.no_grad()
def router_log_shift(spec: RouterShiftWeighting, old_routes: Tensor, routes: Tensor) -> Tensor:
    """``log γ`` with ``γ = max(exp(−mean |log r_θ − log r_old|), floor)``, shape [N], at most 0.

    Args:
        spec: the floor.
        old_routes: log-probability of each expert that the proximal policy chose, by its own router, [N, L, K]: of L
            layers and K experts of each.
        routes: of the same experts by the current policy's router, [N, L, K].
    """
    distance = (routes - old_routes).abs().flatten(1).mean(dim=1)
    return (-distance).exp().clamp(min=spec.floor).log()
