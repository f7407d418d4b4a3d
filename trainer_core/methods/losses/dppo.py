"""DPPO: divergence proximal policy optimisation (arXiv 2602.04879), with binary or top-k divergences."""

import torch
from torch import Tensor

from trainer_core.methods.losses.ratio import bounded_ratio, edge_metrics, share
from trainer_core.methods.view import TokenView
from trainer_core.spec.methods.loss import DPPOLoss


def dppo(spec: DPPOLoss, view: TokenView) -> tuple[Tensor, dict[str, Tensor]]:
    """``−M · sg(min(ρ, ratio_max)) · A · log π`` with ``ρ = π_θ / π_behaviour``, shape [N].

    A token is left out only if the update would move it further away. An improbable token may reach a large ratio and
    stay in the region; a probable one leaves it at a ratio near 1.

    Raises:
        ValueError: the divergence over the likeliest tokens is required but was not computed.
    """
    with torch.no_grad():
        log_ratio, advantages = view.log_behaviour_ratio, view.advantages
        ratio = bounded_ratio(log_ratio)
        if spec.approximation == "binary":
            divergence = binary_divergence(spec, view.logprobs, view.behaviour_logprobs)
        elif view.divergence is None:
            raise ValueError("dppo over the likeliest tokens needs the engine's probabilities of them")
        else:
            divergence = view.divergence
        far = divergence > spec.divergence_max
        above, below = far & (advantages > 0) & (log_ratio > 0), far & (advantages < 0) & (log_ratio < 0)
        kept = ~(above | below)
        metrics = edge_metrics(view, above, below)
        metrics["actor/pg_clipfrac_lower"] = share(kept & (ratio > spec.ratio_max), view)
        weight = ratio.clamp(max=spec.ratio_max) * kept
    return -weight * advantages * view.logprobs, metrics


def binary_divergence(spec: DPPOLoss, logprobs: Tensor, behaviour_logprobs: Tensor) -> Tensor:
    """Binary divergence between the sampled token and any other, shape [N]; infinite where one is impossible."""
    now, then = logprobs.exp(), behaviour_logprobs.exp()
    if spec.divergence == "tv":
        return (now - then).abs()
    # log(1 − p) through expm1 is accurate for p near 0; rounding may raise p slightly above 1.
    rest_now, rest_then = ((-log.clamp(max=0.0).expm1()).clamp(min=0.0) for log in (logprobs, behaviour_logprobs))
    other = torch.where(rest_then > 0, rest_then * (rest_then.log() - rest_now.log()), 0.0)
    return then * (behaviour_logprobs - logprobs) + other


@torch.no_grad()
def top_k_divergence(
    spec: DPPOLoss,
    logprobs: Tensor,
    behaviour_logprobs: Tensor,
    top_logprobs: Tensor,
    top_behaviour_logprobs: Tensor,
    sampled: Tensor,
) -> Tensor:
    """Divergence over the sampled token, the behaviour policy's likeliest and all others as one, shape [N].

    Args:
        spec: which divergence.
        logprobs: the log-probabilities of the sampled tokens under the current policy, [N].
        behaviour_logprobs: the log-probabilities of the same under the policy that sampled, [N].
        top_logprobs: the log-probabilities of its K likeliest tokens under the current policy, [N, K].
        top_behaviour_logprobs: the log-probabilities of the same under itself, [N, K]; −inf where sampling excluded a
            token.
        sampled: where one of the likeliest is the sampled token, which must only count once: bool [N, K].
    """
    now, then = (
        torch.cat([one.unsqueeze(1), several.masked_fill(sampled, -torch.inf)], dim=1)
        for one, several in ((logprobs, top_logprobs), (behaviour_logprobs, top_behaviour_logprobs))
    )
    rest_now, rest_then = (1 - part.exp().sum(dim=1).clamp(max=1.0) for part in (now, then))
    if spec.divergence == "tv":
        return ((now.exp() - then.exp()).abs().sum(dim=1) + (rest_now - rest_then).abs()) / 2
    # A token that the behaviour policy never samples adds nothing, whatever its current probability.
    each = torch.where(then.isneginf(), 0.0, then.exp() * (then - now))
    # Rounding may leave a remainder of 0 for one of them, which is clamped to the dtype's epsilon.
    least = torch.finfo(rest_now.dtype).eps
    other = torch.where(rest_then > least, rest_then * (rest_then.log() - rest_now.clamp(min=least).log()), 0.0)
    return each.sum(dim=1) + other
