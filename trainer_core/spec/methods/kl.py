"""Distance to the reference policy."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, SpecModel, field, method_doc

KLEstimator = Literal["k1", "k2", "k3", "absolute"]
OWN_REFERENCES = ("base", "start")
"""Values of ``kl.reference`` that are weights of the run's own policy; any other value is the name of a policy."""


class KL(SpecModel):
    """Penalty on the distance to the reference policy, in the loss or in the reward."""

    model_config = method_doc(
        "KL penalty",
        "with d = log π_ref − log π_θ: k1 = −d; k2 = d²/2; k3 = exp(d) − 1 − d; absolute = |d|",
        "Schulman, Approximating KL divergence (2020)",
    )
    advice: ClassVar[Advice] = Advice(
        "When the policy must stay close to its base, or to stop a drift that rewards do not see.",
        ("actor/kl_loss", "critic/score/mean", "actor/entropy"),
    )
    estimator: KLEstimator = "k3"
    """Which estimator of KL(π_θ ‖ π_ref). In the loss, k2 has the gradient of that divergence and k3 the gradient of
    KL(π_ref ‖ π_θ); that of k1 averages out to zero, so k1 only pulls as part of the reward. The absolute difference
    does not estimate a divergence: it pulls equally at every distance."""
    placement: Literal["loss", "reward"] = "loss"
    """Added to the loss per token, or subtracted from the reward, without gradient. The advantage decides how:
    REINFORCE++ subtracts β·Σ KL of a token and all that follow from the reward before the batch standardises it, RLOO
    that of the whole sequence before rewards are compared, GAE counts each token's as its reward. The others, for which
    nothing is published, subtract each token's from its finished advantage."""
    coefficient: float = field(0.0, ge=0.0, le=100.0, steer="optimizer_step")
    """Weight of the penalty. At 0 no reference policy is loaded and the coefficient cannot be raised in mid-run."""
    reference: str = field("base", min_length=1, max_length=200)
    """The frozen policy that distance is measured from: ``base``, the base policy; ``start``, the weights that the run
    starts from; or the name of another policy with the same vocabulary. The first two differ only in a fork of a
    checkpoint. A run that resumes or is rewound keeps its reference."""
    reset_steps: int | None = field(None, ge=1, le=10_000_000, unit="steps")
    """Interval in steps at which the current policy becomes the reference and AdamW is reset: a hard reset, as in ProRL
    (arXiv 2505.24864), §2.3.1. Empty: ``reference`` stays the reference."""
