"""Shared parts of the losses: ratios that cannot overflow, and the metrics of a band's edges."""

import torch
from torch import Tensor

from trainer_core.methods.masked import masked_mean
from trainer_core.methods.view import TokenView

LOG_RATIO_BOUND = 20.0
"""Bound that keeps a single broken token from overflowing. It is outside every band that a spec accepts."""


def bounded_ratio(log_ratio: Tensor) -> Tensor:
    """exp of ``log_ratio`` [N], constant beyond ``LOG_RATIO_BOUND``."""
    return log_ratio.clamp(-LOG_RATIO_BOUND, LOG_RATIO_BOUND).exp()


def clipped_surrogate(ratio: Tensor, advantages: Tensor, ratio_min: float, ratio_max: float) -> tuple[Tensor, Tensor]:
    """``−min(ρA, clip(ρ, ratio_min, ratio_max)A)`` and whether an edge binds (bool), both [N]."""
    free = -advantages * ratio
    clipped = -advantages * ratio.clamp(ratio_min, ratio_max)
    return torch.maximum(free, clipped), clipped.detach() > free.detach()


def by_sign(condition: Tensor, if_true: float, if_false: float, like: Tensor) -> Tensor:
    """One of two constants for each token [N], in the dtype of ``like``."""
    return torch.where(condition, like.new_tensor(if_true), like.new_tensor(if_false))


def share(tokens: Tensor, view: TokenView) -> Tensor:
    """Share of the counted tokens for which ``tokens`` [N] is true."""
    return masked_mean((tokens & view.mask).to(view.advantages.dtype), view.mask)


@torch.no_grad()
def drift(view: TokenView) -> dict[str, Tensor]:
    """Metrics of how far the policy has moved since the step began."""
    return {"actor/ppo_kl": masked_mean(view.old_logprobs - view.logprobs, view.mask)}


@torch.no_grad()
def edge_metrics(view: TokenView, above: Tensor, below: Tensor) -> dict[str, Tensor]:
    """Shares of the tokens whose upper or lower bound binds ([N] bool each); a token with zero advantage has none."""
    moved = view.advantages != 0
    above, below = above & moved, below & moved
    return {
        "actor/pg_clipfrac": share(above | below, view),
        "actor/clip_high_share": share(above, view),
        "actor/clip_low_share": share(below, view),
        **drift(view),
    }
