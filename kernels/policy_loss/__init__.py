"""Policy-gradient losses in one pass over the tokens, with their metrics."""

from typing import Any, Literal

import torch
from torch import Tensor

from kernels.backend import Backend, uses_triton
from kernels.policy_loss import reference

Method = Literal["ppo_clip", "cispo"]


def policy_loss(
    logprobs: Tensor,
    old_logprobs: Tensor,
    behaviour_logprobs: Tensor,
    advantages: Tensor,
    mask: Tensor,
    *,
    method: Method,
    ratio_min: float,
    ratio_max: float,
    backend: Backend = "auto",
) -> tuple[Tensor, dict[str, Tensor]]:
    """Loss of each token [N], 0 outside the mask, with gradient for ``logprobs``, and 0-dim metrics without gradient.

    With ρ = π_θ / π_old: ``ppo_clip`` is −min(ρA, clip(ρ, ratio_min, ratio_max)·A) (arXiv 1707.06347, eq. 7), and
    ``cispo`` −sg(clip(ρ, ratio_min, ratio_max))·A·log π_θ (arXiv 2506.13585, eq. 4).

    Metrics over the mask, all 0 if it is empty: ``ratio_mean``, ``ratio_square``, ``ratio_min``, ``ratio_max``;
    ``clip_low`` and ``clip_high``, shares of tokens that are clipped at that edge and whose advantage is not 0; ``k1``
    = −log ρ and ``k3`` = ρ − 1 − log ρ, whose means over samples of π_old are KL(π_old ‖ π_θ) (Schulman, Approximating
    KL Divergence, 2020); ``ess``, the effective share (Σw)² / (n·Σw²) of the weights w = π_old / π_behaviour.

    Args:
        logprobs: [N].
        old_logprobs: [N].
        behaviour_logprobs: [N].
        advantages: [N].
        mask: bool [N]; values outside may be anything.
        method: which loss.
        ratio_min: lower edge of the band.
        ratio_max: upper edge.
        backend: see ``kernels.backend``.

    Raises:
        BackendUnavailable: Triton was requested but cannot run here.
        ValueError: the band is empty.
    """
    if not 0 <= ratio_min <= ratio_max:
        raise ValueError(f"the ratio band {ratio_min:g} … {ratio_max:g} is empty")
    triton = uses_triton(logprobs, backend)
    constants = tuple(part.detach() for part in (old_logprobs, behaviour_logprobs, advantages))
    loss, sums, ends = _PolicyLoss.apply(logprobs, *constants, mask, ratio_min, ratio_max, method == "cispo", triton)
    return loss, _metrics(sums, ends)


def _metrics(sums: Tensor, ends: Tensor) -> dict[str, Tensor]:
    tokens, ratio, square, low, high, k1, k3, weight, weight_square = sums.unbind()
    count = tokens.clamp(min=1.0)
    some = tokens > 0
    return {
        "ratio_mean": ratio / count,
        "ratio_square": square / count,
        "ratio_min": torch.where(some, ends[0], 0.0),
        "ratio_max": torch.where(some, ends[1], 0.0),
        "clip_low": low / count,
        "clip_high": high / count,
        "k1": k1 / count,
        "k3": k3 / count,
        "ess": torch.where(some, weight**2 / (count * weight_square), 0.0),
    }


def _implementation(triton: bool) -> Any:
    if triton:
        from kernels.policy_loss import triton as compiled

        return compiled
    return reference


class _PolicyLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logprobs: Tensor, *given: Any) -> tuple[Tensor, Tensor, Tensor]:
        *parts, triton = given
        loss, slope, sums, ends = _implementation(triton).forward(logprobs, *parts)
        ctx.save_for_backward(slope)
        ctx.mark_non_differentiable(sums, ends)
        return loss, sums, ends

    @staticmethod
    def backward(ctx: Any, slope: Tensor, *_: Any) -> tuple[Tensor | None, ...]:
        (own,) = ctx.saved_tensors
        return slope * own, None, None, None, None, None, None, None, None
