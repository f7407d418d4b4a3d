"""On-policy distillation: a stronger policy grades every token of the policy's own samples."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from trainer_core.spec.base import Advice, SpecModel, field, method_doc


class EqualWeighting(SpecModel):
    """Every sample follows the teacher equally."""

    type: Literal["equal"] = "equal"


class PacedWeighting(SpecModel):
    """Prompts that the policy sometimes answers right weigh most; those always or never answered right weigh
    nothing."""

    model_config = method_doc(
        "PACED",
        "KL of a prompt's samples times w(p) = p^α · (1 − p)^β, p: share of its samples that are right",
        "PACED (arXiv 2603.11178), pass-rate weighting; α = β = 1 there",
    )
    advice: ClassVar[Advice] = Advice(
        "Prompts of very different difficulty for the policy that learns.",
        ("actor/distill_loss", "critic/score/mean"),
    )
    type: Literal["paced"] = "paced"
    alpha: float = field(1.0, ge=0.0, le=100.0, steer="optimizer_step")
    """α: how fast the weight falls towards prompts that are never answered right."""
    beta: float = field(1.0, ge=0.0, le=100.0, steer="optimizer_step")
    """β: how fast the weight falls towards prompts that are always answered right."""


class ScopeWeighting(SpecModel):
    """Right samples are imitated, the unexpected ones more; the teacher corrects the wrong ones that it understands.

    The weights of a prompt's right samples sum to 1, and so do those of its wrong ones. With ``alone`` it is SCOPE.
    """

    model_config = method_doc(
        "SCOPE",
        "right: −w_i·ρ, w_i ∝ PPL_π(y_i)^(1/τ); wrong: w_i·ρ·sg(log π_θ − log π_teacher), "
        "w_i ∝ PPL_teacher(y_i)^(−1/τ); ρ = π_θ / π_old; each kind's weights sum to 1 within a group",
        "SCOPE (arXiv 2604.10688), eq. 2 to 6",
    )
    advice: ClassVar[Advice] = Advice(
        "Verifiable prompts and a teacher that often fails to recover from wrong beginnings.",
        ("actor/distill_loss", "critic/score/mean", "actor/entropy"),
    )
    type: Literal["scope"] = "scope"
    temperature: float = field(1.0, gt=0.0, le=1000.0, steer="optimizer_step")
    """τ: the higher, the more equal the weights."""


DistillationWeighting = Annotated[
    EqualWeighting | PacedWeighting | ScopeWeighting,
    Field(discriminator="type"),
]


class Distillation(SpecModel):
    """Pull towards a frozen teacher on the policy's own samples; both at the sampling temperature."""

    model_config = method_doc(
        "On-policy distillation",
        "L ← L + coefficient · KL(π_θ ‖ teacher) per token; sampled: (log π_θ − log π_teacher)²/2 of its token; "
        "full: Σ_v p_v·log(p_v/q_v); sparse: over the teacher's k likeliest tokens and the rest as one",
        "GKD (arXiv 2306.13649), §3; On-Policy Distillation (Lu et al., Thinking Machines 2025)",
    )
    advice: ClassVar[Advice] = Advice(
        "A stronger policy with the same vocabulary exists: it grades every token, while a reward grades completions.",
        ("actor/loss", "actor/entropy", "critic/score/mean"),
    )
    teacher: str = field(widget="policy", min_length=1, max_length=200)
    """Name of a registered policy of the team, with the same vocabulary as the base policy."""
    distribution: Literal["sampled", "full", "sparse"] = "sampled"
    """What is compared: the sampled token alone (one number per token), all tokens, or the teacher's likeliest."""
    k: int = field(64, ge=1, le=4096, unit="tokens")
    """How many of the teacher's tokens ``sparse`` compares."""
    coefficient: float = field(1.0, gt=0.0, le=1000.0, steer="optimizer_step")
    """Weight of the divergence."""
    weighting: DistillationWeighting = EqualWeighting()
    """How much each sample follows the teacher."""
    alone: bool = False
    """Whether the policy loss of the rewards is left out, so that only the teacher trains."""
