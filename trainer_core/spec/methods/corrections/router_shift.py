"""Parameters, advice and weight by ratio of Router shift (RSPO)."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, field, method_doc
from trainer_core.spec.methods.kinds import CorrectionModel


class RouterShiftWeighting(CorrectionModel):
    """For mixtures of experts: ratios of tokens whose routing has changed since the step began count less. A changed
    choice of experts makes ratios jump although the policy hardly moved. The ratio is rescaled before it is clipped
    and, in GSPO, averaged. The weight is computed over the experts that the policy chose before the step; a policy
    without experts is refused when the run starts.
    """

    model_config = method_doc(
        "Router shift (RSPO)",
        "γ = max(exp(−mean over layers and chosen experts of |log r_θ − log r_old|), floor); ρ ← sg(γ)·ρ",
        "Towards Stable and Effective RL for Mixture-of-Experts (arXiv 2510.23027), router-shift ratio",
    )
    advice: ClassVar[Advice] = Advice(
        "Mixture-of-experts policies with several updates per step, whose experts change in between.",
        ("actor/router_shift", "actor/pg_clipfrac", "actor/ppo_kl"),
    )
    type: Literal["router_shift"] = "router_shift"
    floor: float = field(0.8, ge=0.0, lt=1.0, steer="optimizer_step")
    """Smallest weight. The paper has a floor; 0.8 is the value of a public implementation in verl."""
