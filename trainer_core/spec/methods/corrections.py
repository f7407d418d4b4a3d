"""Corrections for tokens that another policy than the learner's has sampled: engine mismatch and staleness."""

from typing import Annotated, Literal

from pydantic import Field

from trainer_core.spec.base import SpecModel, field, method_doc

Level = Literal["token", "sequence"]


class TruncatedImportanceSampling(SpecModel):
    """Weight each token by the truncated ratio between the learner's and the engine's probability."""

    model_config = method_doc(
        "Truncated importance sampling",
        "w = min(π_old / π_behaviour, ratio_max); L ← w·L",
        "Ionides 2008; Your efficient RL framework secretly brings you off-policy training (Yao et al. 2025)",
    )
    type: Literal["truncated_is"] = "truncated_is"
    level: Level = "token"
    """One ratio per token, or their product over the completion."""
    ratio_max: float = field(2.0, ge=1.0, le=1000.0, steer="optimizer_step")
    """Largest weight."""


class MaskedImportanceSampling(SpecModel):
    """Weight by the ratio, and leave out what lies above a bound instead of truncating it."""

    model_config = method_doc(
        "Masked importance sampling",
        "w = π_old / π_behaviour if w ≤ ratio_max, else 0; L ← w·L",
        "When speed kills stability: demystifying RL collapse from the training-inference mismatch (Liu et al. 2025)",
    )
    type: Literal["masked_is"] = "masked_is"
    level: Level = "sequence"
    """One ratio per token, or their product over the completion, which then stays or goes as a whole."""
    ratio_max: float = field(3.0, ge=1.0, le=1000.0, steer="optimizer_step")
    """Largest ratio that is kept."""


class IcePopMasking(SpecModel):
    """Weight by the ratio within a band on both sides of 1, and leave out tokens outside it."""

    model_config = method_doc(
        "IcePop",
        "w = π_old / π_behaviour if ratio_min ≤ w ≤ ratio_max, else 0; L ← w·L",
        "Every Step Evolves: Ring-1T (arXiv 2510.18855), §IcePop",
    )
    type: Literal["icepop"] = "icepop"
    ratio_min: float = field(0.5, ge=0.0, le=1.0, steer="optimizer_step")
    """Least ratio learner / engine that is kept. It bounds the ratio itself, never its inverse."""
    ratio_max: float = field(5.0, ge=1.0, le=1000.0, steer="optimizer_step")
    """Largest ratio learner / engine that is kept."""


class OffPolicySequenceMasking(SpecModel):
    """Leave out bad completions that the current policy would hardly sample any more; good ones are always kept."""

    model_config = method_doc(
        "Off-policy sequence masking",
        "L ← 0 where A < 0 and mean_t (log π_behaviour − log π_θ) > divergence_max",
        "DeepSeek-V3.2 (arXiv 2512.02556), §3.1",
    )
    type: Literal["opsm"] = "opsm"
    divergence_max: float = field(0.01, gt=0.0, le=100.0, unit="nats", steer="optimizer_step")
    """δ: largest mean log ratio of a completion that is kept. DeepSeek publishes none; TRL starts from 0.5."""


class RouterShiftWeighting(SpecModel):
    """For mixtures of experts: ratios of tokens whose routing has moved since the step began count less.

    A changed choice of experts makes ratios jump that say little about the policy. The ratio is rescaled before it is
    clipped and, in GSPO, averaged. The weight is taken over the experts that the policy chose before the step; a policy
    without experts is refused when the run starts.
    """

    model_config = method_doc(
        "Router shift (RSPO)",
        "γ = max(exp(−mean over layers and chosen experts of |log r_θ − log r_old|), floor); ρ ← sg(γ)·ρ",
        "Towards Stable and Effective RL for Mixture-of-Experts (arXiv 2510.23027), router-shift ratio",
    )
    type: Literal["router_shift"] = "router_shift"
    floor: float = field(0.8, ge=0.0, lt=1.0, steer="optimizer_step")
    """Least weight. The paper has a floor; 0.8 is that of a public implementation in verl."""


Correction = Annotated[
    TruncatedImportanceSampling
    | MaskedImportanceSampling
    | IcePopMasking
    | OffPolicySequenceMasking
    | RouterShiftWeighting,
    Field(discriminator="type"),
]

WEIGHTING = (TruncatedImportanceSampling, MaskedImportanceSampling, IcePopMasking)
"""Corrections that multiply by the importance ratio: one at most."""
