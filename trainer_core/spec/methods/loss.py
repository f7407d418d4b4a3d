"""The policy objective."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from trainer_core.spec.base import SpecModel, field, method_doc


class PPOClipLoss(SpecModel):
    """Clipped surrogate with separate lower and upper bound of the importance ratio (clip-higher)."""

    model_config = method_doc(
        "PPO clip",
        "L = −min(ρ·A, clip(ρ, ratio_min, ratio_max)·A), ρ = π_θ / π_old; with A < 0 at most ratio_dual·|A|",
        "PPO (arXiv 1707.06347), eq. 7; clip-higher: DAPO (arXiv 2503.14476), eq. 10; dual clip: arXiv 1912.09729",
    )
    type: Literal["ppo_clip"] = "ppo_clip"
    ratio_min: float = field(0.8, ge=0.0, le=1.0, steer="optimizer_step")
    """Lower edge of the ratio band (the band itself, not an ε)."""
    ratio_max: float = field(1.28, ge=1.0, le=100.0, steer="optimizer_step")
    """Upper edge of the ratio band (the band itself, not an ε)."""
    ratio_dual: float | None = field(None, gt=1.0, le=100.0)
    """Dual clip: cap of the loss for negative advantages, as a ratio. Empty: off."""

    @model_validator(mode="after")
    def _dual_is_outside_the_band(self) -> "PPOClipLoss":
        if self.ratio_dual is not None and self.ratio_dual <= self.ratio_max:
            raise ValueError("ratio_dual must be above ratio_max")
        return self


class ReinforceLoss(SpecModel):
    """Plain policy gradient; off-policy tokens are handled by the corrections alone."""

    model_config = method_doc("REINFORCE", "L = −A · log π_θ", "Williams 1992")
    type: Literal["reinforce"] = "reinforce"


class CISPOLoss(SpecModel):
    """Clips the weight of a token instead of its gradient: every token goes on teaching, however far it has moved."""

    model_config = method_doc(
        "CISPO",
        "L = −sg(clip(ρ, ratio_min, ratio_max)) · A · log π_θ, ρ = π_θ / π_old",
        "MiniMax-M1 (arXiv 2506.13585), eq. 4",
    )
    type: Literal["cispo"] = "cispo"
    ratio_min: float = field(0.0, ge=0.0, le=1.0, steer="optimizer_step")
    """Least weight (the band itself, not an ε). MiniMax-M1 has no lower bound: 0."""
    ratio_max: float = field(5.0, ge=1.0, le=100.0, steer="optimizer_step")
    """Largest weight (the band itself, not an ε)."""


class GSPOLoss(SpecModel):
    """PPO's clip on the ratio of the whole completion, its length taken out. Meant for the sequence mean."""

    model_config = method_doc(
        "GSPO",
        "s = exp(mean_t log(π_θ / π_old)); L = −min(s·A, clip(s, ratio_min, ratio_max)·A); "
        "token form: s_t = sg(s) · π_θ / sg(π_θ)",
        "Group Sequence Policy Optimization (arXiv 2507.18071), §4.1; token form: §4.3",
    )
    type: Literal["gspo"] = "gspo"
    level: Literal["sequence", "token"] = "sequence"
    """Whether the gradient runs through the sequence's ratio, or through each token's own probability."""
    ratio_min: float = field(0.9997, ge=0.0, le=1.0, steer="optimizer_step")
    """Lower edge of the band of the sequence's ratio. It is far narrower than a band of token ratios."""
    ratio_max: float = field(1.0004, ge=1.0, le=100.0, steer="optimizer_step")
    """Upper edge of the band of the sequence's ratio."""


class SAPOLoss(SpecModel):
    """A soft gate in place of the clip: the weight of a token fades as its ratio leaves 1."""

    model_config = method_doc(
        "SAPO",
        "L = −(4/τ) · σ(τ·(ρ − 1)) · A with τ = temperature_positive for A > 0, temperature_negative otherwise",
        "Soft Adaptive Policy Optimization (arXiv 2511.20347)",
    )
    type: Literal["sapo"] = "sapo"
    temperature_positive: float = field(1.0, gt=0.0, le=100.0, steer="optimizer_step")
    """τ of tokens with a positive advantage; the higher, the sooner the weight fades."""
    temperature_negative: float = field(1.05, gt=0.0, le=100.0, steer="optimizer_step")
    """τ of the other tokens. Higher than the first: pushing probability down disturbs every other token."""


class DPPOLoss(SpecModel):
    """Leaves out tokens that have moved away by more probability than the trust region allows, seen from the engine."""

    model_config = method_doc(
        "DPPO",
        "L = −M · sg(min(ρ, ratio_max)) · A · log π_θ, ρ = π_θ / π_behaviour; M = 0 where A·(ρ − 1) > 0 and "
        "D > divergence_max; binary: D = |π_θ − π_b| (tv) or π_b log(π_b / π_θ) + (1 − π_b) log((1 − π_b) / (1 − π_θ)) "
        "(kl); top_k: D = ½ Σ_v |π_θ(v) − π_b(v)| (tv) or Σ_v π_b(v) log(π_b(v) / π_θ(v)) (kl) over the sampled token, "
        "the k likeliest of π_b, and all others as one",
        "Rethinking the Trust Region in LLM Reinforcement Learning (arXiv 2602.04879); the authors' code, Stable-RL",
    )
    type: Literal["dppo"] = "dppo"
    approximation: Literal["binary", "top_k"] = "binary"
    """What the divergence is taken over: the sampled token and any other, or the engine's likeliest tokens too. For
    the latter the engine tells their probabilities at every step, and the learner computes all logits."""
    k: int = field(20, ge=1, le=1024, unit="tokens")
    """How many of the likeliest tokens ``top_k`` looks at; TRL takes 20."""
    divergence: Literal["tv", "kl"] = "tv"
    """Total variation or KL."""
    divergence_max: float = field(0.15, gt=0.0, le=10.0, steer="optimizer_step")
    """Radius of the trust region. The paper recommends 0.15 for ``tv`` and 0.05 for ``kl``, as TRL has it."""
    ratio_max: float = field(20.0, ge=1.0, le=1000.0, steer="optimizer_step")
    """Largest weight of a token that is left in."""


class DecoupledPPOLoss(SpecModel):
    """PPO's clip around the proximal policy, weighted by proximal against behaviour policy: for stale samples."""

    model_config = method_doc(
        "Decoupled PPO",
        "w = π_old / π_behaviour, 0 above weight_max; L = −w · min(ρ·A, clip(ρ, ratio_min, ratio_max)·A), "
        "ρ = π_θ / π_old",
        "AReaL (arXiv 2505.24298), §5.2; batch size-invariance (arXiv 2110.00641)",
    )
    type: Literal["decoupled_ppo"] = "decoupled_ppo"
    ratio_min: float = field(0.8, ge=0.0, le=1.0, steer="optimizer_step")
    """Lower edge of the band around the proximal policy."""
    ratio_max: float = field(1.2, ge=1.0, le=100.0, steer="optimizer_step")
    """Upper edge of the band around the proximal policy."""
    weight_max: float = field(5.0, ge=1.0, le=1000.0, steer="optimizer_step")
    """Tokens with a larger weight are left out."""


class MinPROLoss(SpecModel):
    """Weights a token by its ratio and the least ratio before it, in place of the exploding product of all."""

    model_config = method_doc(
        "MinPRO",
        "L = −sg(clip(ρ_t · min_{i<t} ρ_i, ratio_min, ratio_max)) · A · log π_θ, ρ = π_θ / π_behaviour",
        "Prefix Importance Ratio Stabilizes Policy Optimization (arXiv 2601.22718)",
    )
    type: Literal["minpro"] = "minpro"
    ratio_min: float = field(0.0, ge=0.0, le=1.0, steer="optimizer_step")
    """Least weight. Above 0, tokens behind an improbable prefix go on teaching."""
    ratio_max: float = field(5.0, ge=1.0, le=1000.0, steer="optimizer_step")
    """Largest weight."""


class VESPOLoss(SpecModel):
    """Weights whole completions by a smooth bump of their ratio: 1 on policy, fading on both sides."""

    model_config = method_doc(
        "VESPO",
        "W = Π_t π_θ / π_behaviour; φ = W^k · exp(λ·(1 − W)); L = −sg(φ) · A · log π_θ",
        "Variational Sequence-Level Soft Policy Optimization (arXiv 2602.10693); constants: TRL",
    )
    type: Literal["vespo"] = "vespo"
    power_positive: float = field(2.0, gt=0.0, le=100.0)
    """k for A ≥ 0: how fast the weight of improbable completions fades."""
    rate_positive: float = field(3.0, gt=0.0, le=100.0)
    """λ for A ≥ 0: how fast the weight of completions that have become likelier fades."""
    power_negative: float = field(3.0, gt=0.0, le=100.0)
    """k for A < 0."""
    rate_negative: float = field(2.0, gt=0.0, le=100.0)
    """λ for A < 0."""


class SequenceMaskLoss(SpecModel):
    """Leaves out every completion of which any part has left the trust region; the others are not clipped."""

    model_config = method_doc(
        "Sequence-masked policy optimisation",
        "L = −M · ρ · A, ρ = π_θ / π_behaviour; M = 1 if ratio_min ≤ ρ_t ≤ ratio_max for every t and "
        "mean_t (ρ_t − 1 − log ρ_t) ≤ divergence_max",
        "Trust Region Masking for Long-Horizon LLM Reinforcement Learning (arXiv 2512.23075)",
    )
    type: Literal["sequence_mask"] = "sequence_mask"
    ratio_min: float = field(0.1, ge=0.0, le=1.0, steer="optimizer_step")
    """Least ratio that any token of a completion may have."""
    ratio_max: float = field(10.0, ge=1.0, le=1000.0, steer="optimizer_step")
    """Largest ratio that any token of a completion may have."""
    divergence_max: float | None = field(None, gt=0.0, le=10.0, unit="nats")
    """Largest mean divergence of a completion. Empty: the band alone decides."""


class KLPenalisedLoss(SpecModel):
    """Importance-weighted policy gradient with a penalty on leaving the policy before the step, in place of a clip."""

    model_config = method_doc(
        "KL-penalised surrogate",
        "L = −ρ·A + coefficient · (ρ − 1 − log ρ), ρ = π_θ / π_old",
        "TRPO (arXiv 1502.05477), §4, penalised form; PPO (arXiv 1707.06347), eq. 8 with a constant coefficient",
    )
    type: Literal["kl_penalised"] = "kl_penalised"
    coefficient: float = field(3.0, gt=0.0, le=1000.0, steer="optimizer_step")
    """β: a token of advantage A < β comes to rest at the ratio β / (β − A); at 3 and A = 1 that is 1.5."""


Loss = Annotated[
    PPOClipLoss
    | ReinforceLoss
    | CISPOLoss
    | GSPOLoss
    | SAPOLoss
    | DPPOLoss
    | DecoupledPPOLoss
    | MinPROLoss
    | VESPOLoss
    | SequenceMaskLoss
    | KLPenalisedLoss,
    Field(discriminator="type"),
]

ANCHORED_ON_BEHAVIOUR = (DPPOLoss, MinPROLoss, VESPOLoss, SequenceMaskLoss)
"""Losses whose ratio is taken against the behaviour policy, not against the proximal one."""

WEIGHTED_ALREADY = (*ANCHORED_ON_BEHAVIOUR, DecoupledPPOLoss)
"""Losses that weigh by the behaviour policy themselves: a correction must not do so a second time."""


def top_tokens(loss: Loss) -> int:
    """How many of the likeliest tokens the engine must tell at every step."""
    return loss.k if isinstance(loss, DPPOLoss) and loss.approximation == "top_k" else 0
