"""On-policy distillation: a stronger policy grades every token of the policy's own samples."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, SpecModel, field, method_doc


class Distillation(SpecModel):
    """Pull towards a frozen teacher on what the policy itself samples; both at the sampling temperature."""

    model_config = method_doc(
        "On-policy distillation",
        "L ← L + coefficient · KL(π_θ ‖ teacher) per token; sampled: (log π_θ − log π_teacher)²/2 of its token; "
        "full: Σ_v p_v·log(p_v/q_v); sparse: over the teacher's k likeliest tokens and the rest as one",
        "GKD (arXiv 2306.13649), §3; On-Policy Distillation (Lu et al., Thinking Machines 2025)",
    )
    advice: ClassVar[Advice] = Advice(
        "A stronger policy with the same vocabulary exists: it grades every token, where a reward grades completions.",
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
    alone: bool = False
    """Whether the policy loss of the rewards is left out, so that the teacher alone trains."""
