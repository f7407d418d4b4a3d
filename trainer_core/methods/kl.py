"""Estimators of KL(π_θ ‖ π_ref) from samples of π_θ (Schulman, Approximating KL divergence, 2020)."""

from torch import Tensor

from trainer_core.spec.methods.kl import KLEstimator


def penalty(estimator: KLEstimator, logprobs: Tensor, reference_logprobs: Tensor) -> Tensor:
    """One value per token [N], with ``d = log π_ref − log π_θ``.

    Values: k1 = −d is unbiased and may be negative; k2 = d²/2 is biased; k3 = exp(d) − 1 − d is unbiased and never
    negative. Gradients (through ``logprobs``, expected under π_θ): k1's is ∇log π_θ, which averages out to zero; k2's
    is −d·∇log π_θ, that of KL(π_θ ‖ π_ref); k3's is (1 − exp(d))·∇log π_θ, that of KL(π_ref ‖ π_θ).
    The absolute value |d| does not estimate a divergence; its gradient is −sign(d)·∇log π_θ, zero at equality.
    """
    difference = reference_logprobs - logprobs
    match estimator:
        case "k1":
            return -difference
        case "k2":
            return difference.square() / 2
        case "k3":
            # expm1 keeps the difference of near-equal policies, where exp(d) − 1 − d would cancel. Only large d
            # overflows; a lower bound would end the pull on tokens that are nearly impossible under the reference.
            bounded = difference.clamp(max=20.0)
            return bounded.expm1() - bounded
        case "absolute":
            return difference.abs()
