"""Parameters and advice of SimKO."""

from typing import ClassVar

from trainer_core.spec.base import Advice, SpecModel, field, method_doc


class TopKSmoothing(SpecModel):
    """Good completions also raise the likeliest tokens where the policy was uncertain, bad ones lower the likeliest
    more. Plain policy gradients concentrate the probability on one token, which helps pass@1 at the cost of pass@k. The
    sign of the advantage decides between good and bad. It needs all logits.
    """

    model_config = method_doc(
        "SimKO",
        "where H_t is above the completion's τ-quantile: A > 0: ρ ← (1 − α)·ρ + α/K · Σ_{v ∈ top-K} sg(ρ/ρ_v)·ρ_v; "
        "A < 0 and the token is the likeliest: A ← λ·A",
        "SimKO (arXiv 2510.14807), §4; its authors' code",
    )
    advice: ClassVar[Advice] = Advice(
        "Pass@1 grows while pass@k falls: the policy gives up its alternatives.",
        ("actor/entropy", "actor/smoothed_share", "eval/<source>/pass_at/<k>/mean"),
    )
    k: int = field(3, ge=1, le=1024, unit="tokens")
    """K: number of the policy's likeliest tokens that share a good token's gain; the authors use 3."""
    alpha: float = field(0.01, ge=0.0, le=1.0, steer="optimizer_step")
    """α: share of a good token's gain that goes to them."""
    quantile: float = field(0.8, ge=0.0, le=1.0, steer="optimizer_step")
    """τ: tokens count as uncertain above this quantile of the entropies of their completion."""
    penalty: float = field(1.1, ge=1.0, le=100.0, steer="optimizer_step")
    """λ: factor of a negative advantage if the token was the likeliest."""
