"""Parameters, advice and weight by ratio of DPPO."""

import math
from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, field, method_doc
from trainer_core.spec.methods.kinds import Anchor, LossModel
from trainer_core.spec.watched import RATIO

PROBABILITY = 0.5
"""Probability of the token when it was sampled, in the picture of the weights."""


class DPPOLoss(LossModel):
    """Excludes tokens whose probability has moved further from the engine's than the trust region allows."""

    model_config = method_doc(
        "DPPO",
        "L = −M · sg(min(ρ, ratio_max)) · A · log π_θ, ρ = π_θ / π_behaviour; M = 0 where A·(ρ − 1) > 0 and "
        "D > divergence_max; binary: D = |π_θ − π_b| (tv) or π_b log(π_b / π_θ) + (1 − π_b) log((1 − π_b) / (1 − π_θ)) "
        "(kl); top_k: D = ½ Σ_v |π_θ(v) − π_b(v)| (tv) or Σ_v π_b(v) log(π_b(v) / π_θ(v)) (kl) over the sampled token, "
        "the k likeliest of π_b, and all others as one",
        "Rethinking the Trust Region in LLM Reinforcement Learning (arXiv 2602.04879); the authors' code, Stable-RL",
    )
    advice: ClassVar[Advice] = Advice(
        "Stale or mismatched samples: bounds the change in probability, so that rare tokens are not clipped needlessly."
        " Over the likeliest tokens it sees changes that the sampled token does not show, at the cost of all logits.",
        (*RATIO, "rollout_corr/kl"),
    )
    anchor: ClassVar[Anchor] = "behaviour"
    weighs_behaviour: ClassVar[bool] = True
    type: Literal["dppo"] = "dppo"
    approximation: Literal["binary", "top_k"] = "binary"
    """Tokens that the divergence is computed over: the sampled token and all others as one, or the engine's likeliest
    tokens too. For the latter the engine returns their probabilities at every step, and the learner computes all
    logits."""
    k: int = field(20, ge=1, le=1024, unit="tokens")
    """Number of likeliest tokens that ``top_k`` uses; TRL uses 20."""
    divergence: Literal["tv", "kl"] = "tv"
    """Total variation or KL."""
    divergence_max: float = field(0.15, gt=0.0, le=10.0, steer="optimizer_step")
    """Radius of the trust region. The paper recommends 0.15 for ``tv`` and 0.05 for ``kl``, as TRL does."""
    ratio_max: float = field(20.0, ge=1.0, le=1000.0, steer="optimizer_step")
    """Largest weight of a token that is kept."""

    @property
    def top_tokens(self) -> int:
        """Number of likeliest tokens that the engine must tell at every step."""
        return self.k if self.approximation == "top_k" else 0

    def gradient_weight(self, ratio: float, sign: int) -> float:
        """The truncated ratio; 0 where the token, of probability ``PROBABILITY`` then, has left the trust region."""
        left = sign * (ratio - 1) > 0 and self._divergence(ratio) > self.divergence_max
        return 0.0 if left else min(ratio, self.ratio_max)

    def _divergence(self, ratio: float) -> float:
        before, now = PROBABILITY, min(PROBABILITY * ratio, 1 - 1e-9)
        if self.divergence == "tv":
            return abs(now - before)
        return before * math.log(before / now) + (1 - before) * math.log((1 - before) / (1 - now))
