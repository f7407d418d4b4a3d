"""DPPO: divergence proximal policy optimisation (arXiv 2602.04879), with binary divergences."""

import torch
from torch import Tensor

from trainer_core.methods.losses.ratio import bounded_ratio, edge_metrics, share
from trainer_core.methods.view import TokenView
from trainer_core.spec.loss import DPPOLoss


def dppo(spec: DPPOLoss, view: TokenView) -> tuple[Tensor, dict[str, Tensor]]:
    """``−M · sg(min(ρ, ratio_max)) · A · log π`` with ``ρ = π_θ / π_behaviour``, shape [N].

    A token is left out only where the update would carry it further away: an improbable token may gain a large ratio
    and stay, a probable one leaves the region at a ratio near 1.
    """
    with torch.no_grad():
        log_ratio, advantages = view.log_behaviour_ratio, view.advantages
        ratio = bounded_ratio(log_ratio)
        far = binary_divergence(spec, view.logprobs, view.behaviour_logprobs) > spec.divergence_max
        above, below = far & (advantages > 0) & (log_ratio > 0), far & (advantages < 0) & (log_ratio < 0)
        kept = ~(above | below)
        metrics = edge_metrics(view, above, below)
        metrics["actor/pg_clipfrac_lower"] = share(kept & (ratio > spec.ratio_max), view)
        weight = ratio.clamp(max=spec.ratio_max) * kept
    return -weight * advantages * view.logprobs, metrics


def binary_divergence(spec: DPPOLoss, logprobs: Tensor, behaviour_logprobs: Tensor) -> Tensor:
    """Divergence of the choice between the sampled token and any other, shape [N]; infinite where one is impossible."""
    now, then = logprobs.exp(), behaviour_logprobs.exp()
    if spec.divergence == "tv":
        return (now - then).abs()
    # log(1 − p) through expm1 keeps its digits for p near 0; rounding may lift p a little above 1.
    rest_now, rest_then = ((-log.clamp(max=0.0).expm1()).clamp(min=0.0) for log in (logprobs, behaviour_logprobs))
    other = torch.where(rest_then > 0, rest_then * (rest_then.log() - rest_now.log()), 0.0)
    return then * (behaviour_logprobs - logprobs) + other
