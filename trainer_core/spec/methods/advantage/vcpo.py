"""Parameters and advice of VCPO baseline."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, field, method_doc
from trainer_core.spec.methods.kinds import GroupAdvantage


class VCPOAdvantage(GroupAdvantage):
    """The baseline with the least variance for stale samples: samples with more weight in the gradient weigh more.

    The weight w is the product of a sample's ratios between learner and engine, known only in the learner: the
    advantages of the update are computed there. Rollouts show their on-policy value (w = 1). The squared gradient norm
    of a sample is assumed proportional to its length, as OPO does, instead of by one backward pass per sample.
    """

    model_config = method_doc(
        "VCPO baseline",
        "A_i = r_i − Σ_j w_j²·‖∇log π_j‖²·r_j / Σ_j w_j²·‖∇log π_j‖², w = π_learner/π_behaviour, ‖∇log π_j‖² ∝ L_j",
        "Stable Asynchrony (arXiv 2602.17616), off-policy optimal baseline",
    )
    advice: ClassVar[Advice] = Advice(
        "Asynchronous runs with several versions of staleness and sequence-level importance weights.",
        ("rollout_corr/rollout_is_eff_sample_size", "staleness/mean", "actor/grad_norm"),
    )
    needs_scores: ClassVar[bool] = True
    type: Literal["vcpo"] = "vcpo"
    ratio_max: float = field(10.0, ge=1.0, le=1e6)
    """Largest weight w: one sample must not become its own baseline."""
