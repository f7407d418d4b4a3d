"""SimKO (arXiv 2510.14807): top-K label smoothing of good tokens, a stronger penalty for the likeliest bad ones."""

import torch
from torch import Tensor

from trainer_core.methods.losses.ratio import share
from trainer_core.methods.view import Candidates, TokenView
from trainer_core.spec.methods.loss import TopKSmoothing


def simko(spec: TopKSmoothing, ratio: Tensor, view: TokenView) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
    """The ratio ρ and the advantages for a clipped surrogate, [N] each, and metrics.

    At uncertain tokens with A > 0 the ratio is ``(1 − α)·ρ + α/K · Σ_v sg(ρ/ρ_v)·ρ_v`` over the policy's K likeliest
    tokens: its value stays ρ, and a share α of its gradient goes to them. ``sg(ρ/ρ_v)·ρ_v`` is
    ``sg(ρ) · π_θ(v) / sg(π_θ(v))``, whatever probability the policy before the step gave v.

    Raises:
        ValueError: the likeliest tokens were not computed.
    """
    seen = view.candidates
    if seen is None:
        raise ValueError("top-K smoothing needs the policy's probabilities of its likeliest tokens")
    with torch.no_grad():
        uncertain = view.mask & (seen.entropies > _thresholds(seen, view, spec.quantile))
        good = uncertain & (view.advantages > 0)
        worse = uncertain & (view.advantages < 0) & seen.likeliest
        metrics = {"actor/smoothed_share": share(good, view), "actor/likeliest_penalised_share": share(worse, view)}
    others = (seen.logprobs - seen.logprobs.detach()).exp().mean(dim=1) * ratio.detach()
    smoothed = torch.where(good, (1 - spec.alpha) * ratio + spec.alpha * others, ratio)
    return smoothed, torch.where(worse, spec.penalty * view.advantages, view.advantages), metrics


def _thresholds(seen: Candidates, view: TokenView, quantile: float) -> Tensor:
    """Quantile of the entropies of each token's completion, over its counted tokens, [N]; +inf where none counts."""
    result = torch.full_like(seen.entropies, torch.inf)
    for number in view.sequence[view.mask].unique():
        own = view.sequence == number
        result[own] = torch.quantile(seen.entropies[own & view.mask], quantile)
    return result
