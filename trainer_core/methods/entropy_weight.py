"""Weight of the entropy bonus under adaptive control (Skywork-OR1, arXiv 2505.22312)."""

from trainer_core.spec.methods.entropy import AdaptiveEntropyBonus


def entropy_weight(spec: AdaptiveEntropyBonus, held: float, entropy: float) -> tuple[float, float]:
    """The weight α_k of this step, and the weight c_{k+1} stored for the next.

    Args:
        spec: target, change and bound.
        held: c_k.
        entropy: e_k, the policy's mean entropy before the step, in nats.
    """
    bounded = min(held, spec.weight_max)
    acting = bounded if entropy <= spec.target else 0.0
    if entropy == spec.target:
        return acting, bounded
    following = bounded + (spec.change if entropy < spec.target else -spec.change)
    return acting, min(max(following, 0.0), spec.weight_max)
