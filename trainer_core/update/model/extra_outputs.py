"""Outputs that some losses need from a forward pass in addition to the log-probabilities of its targets."""

import torch
from torch import Tensor

from trainer_core.methods.corrections.router_shift import router_log_shift
from trainer_core.methods.losses.dppo import top_k_divergence
from trainer_core.methods.view import Candidates
from trainer_core.spec import RunSpec
from trainer_core.spec.methods.corrections import RouterShiftWeighting
from trainer_core.spec.methods.loss import DPPOLoss
from trainer_core.update.hybrid.routing import Routes, RouteWatch
from trainer_core.update.model.likeliest import likeliest_logprobs, named_logprobs
from trainer_core.update.packed.packing import TokenBatch


def own_candidates(spec: RunSpec, batch: TokenBatch, own_logits: Tensor | None, entropies: Tensor) -> Candidates | None:
    """The policy's likeliest tokens at the positions of a micro-batch, [M, K] with gradient; None for other losses.

    Args:
        spec: the current spec.
        batch: M predicted tokens.
        own_logits: the policy's logits of the tokens that this rank computes, [m, V], with gradient.
        entropies: the entropies of its distributions, [M].
    """
    if spec.loss.candidates == 0 or own_logits is None:
        return None
    logprobs, ids = likeliest_logprobs(own_logits, batch.own(batch.temperature), spec.loss.candidates)
    return Candidates(batch.whole(logprobs), entropies, batch.whole(ids[:, 0]) == batch.targets)


@torch.no_grad()
def likeliest_divergence(
    spec: RunSpec, batch: TokenBatch, logprobs: Tensor, own_logits: Tensor | None
) -> Tensor | None:
    """DPPO's divergence over the likeliest tokens of the engine, float32 [M]; None for other losses.

    Args:
        spec: the current spec.
        batch: M predicted tokens.
        logprobs: the log-probabilities of the targets under the current policy, [M].
        own_logits: its logits of the tokens that this rank computes, [m, V].

    Raises:
        ValueError: the trajectories do not hold the engine's likeliest tokens.
    """
    if not isinstance(spec.loss, DPPOLoss) or spec.loss.top_tokens == 0:
        return None
    if batch.top_ids is None or batch.top_logprobs is None or own_logits is None:
        raise ValueError("dppo over the likeliest tokens needs trajectories with the engine's probabilities of them")
    top = batch.whole(named_logprobs(own_logits.detach(), batch.own(batch.temperature), batch.own(batch.top_ids)))
    sampled = batch.top_ids == batch.targets.unsqueeze(1)
    return top_k_divergence(spec.loss, logprobs, batch.behaviour_logprobs, top, batch.top_logprobs, sampled)


def routing_shift(spec: RunSpec, before: Routes | None, watch: RouteWatch | None, like: Tensor) -> Tensor | None:
    """Log weight of the changed routing, float32 [M]; None if no correction uses it, 0 before the first update."""
    chosen = next((one for one in spec.corrections if isinstance(one, RouterShiftWeighting)), None)
    if chosen is None:
        return None
    if before is None or watch is None:
        return torch.zeros_like(like)
    return router_log_shift(chosen, before.logprobs, watch.of(before.experts))
