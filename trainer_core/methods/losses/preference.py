"""Preference losses: a pair of a better and a worse completion becomes one number."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from trainer_core.spec.objective.preference import DPO, IPO, ORPO, PreferenceLoss, SimPO

LEAST_DOUBT = torch.finfo(torch.float32).eps
"""Log-probabilities come in float32. A mean closer to 0 is rounding, and its odds would be infinite."""


@dataclass(frozen=True, slots=True)
class PairView:
    """P pairs. The first column is the better completion, the second the worse one."""

    logprobs: Tensor
    """log π_θ of the completion: the sum over its tokens that count, [P, 2], with gradient."""
    tokens: Tensor
    """Number of these tokens, at least 1, [P, 2], of the same type."""
    reference: Tensor | None = None
    """``logprobs`` under the reference policy, [P, 2]; if the loss compares with one."""

    def means(self) -> Tensor:
        """log π_θ per token, [P, 2]."""
        return self.logprobs / self.tokens


def preference_loss(spec: PreferenceLoss, pairs: PairView) -> tuple[Tensor, Tensor]:
    """Loss of each pair and its margin, the implicit reward of the better completion − that of the worse: [P] each.

    The margin has a gradient too. Its order is that of the loss: a pair is in the right order if it is above 0.

    Raises:
        ValueError: the loss needs a reference policy, and ``pairs`` has none.
    """
    match spec:
        case DPO():
            margin = spec.beta * _difference(_log_ratios(pairs))
            return dpo(margin, spec.label_smoothing), margin
        case IPO():
            ratio = _difference(_log_ratios(pairs) / pairs.tokens)
            return ipo(ratio, spec.beta), spec.beta * ratio
        case SimPO():
            margin = spec.beta * _difference(pairs.means())
            return simpo(margin, spec.margin), margin
        case ORPO():
            odds = _difference(log_odds(pairs.means()))
            return orpo(pairs.means()[:, 0], odds, spec.weight), spec.weight * odds


def dpo(margin: Tensor, label_smoothing: float) -> Tensor:
    """``−(1 − ε) · log σ(m) − ε · log σ(−m)`` of β · h (arXiv 2305.18290, eq. 7; ε: Mitchell, 2023)."""
    return -(1.0 - label_smoothing) * logsigmoid(margin) - label_smoothing * logsigmoid(-margin)


def ipo(ratio: Tensor, beta: float) -> Tensor:
    """``(h − 1/(2τ))²`` of the difference of log-ratios per token (arXiv 2310.12036, eq. 17)."""
    return (ratio - 1.0 / (2.0 * beta)).square()


def simpo(margin: Tensor, target: float) -> Tensor:
    """``−log σ(m − γ)`` of β times the difference of log-probabilities per token (arXiv 2405.14734, eq. 6)."""
    return -logsigmoid(margin - target)


def orpo(better: Tensor, odds: Tensor, weight: float) -> Tensor:
    """``−log π_θ(y_w)/|y_w| − λ · log σ(odds)`` of the difference of log-odds (arXiv 2403.07691, eq. 6 to 8)."""
    return -better - weight * logsigmoid(odds)


def log_odds(logprobs: Tensor) -> Tensor:
    """``log (p / (1 − p))`` from log p ≤ 0, finite for all of them; log (1 − p) by the more exact of two ways."""
    known = logprobs.clamp(max=-LEAST_DOUBT)
    likely = known > -math.log(2.0)
    # The branch that is not taken is computed too, and must not make its gradient NaN.
    near, far = known.masked_fill(~likely, -1.0), known.masked_fill(likely, -1.0)
    return known - torch.where(likely, torch.log(-torch.expm1(near)), torch.log1p(-torch.exp(far)))


def _log_ratios(pairs: PairView) -> Tensor:
    if pairs.reference is None:
        raise ValueError("the preference loss compares with a reference policy, and there is none")
    return pairs.logprobs - pairs.reference


def _difference(values: Tensor) -> Tensor:
    return values[:, 0] - values[:, 1]
