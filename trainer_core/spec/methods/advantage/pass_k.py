"""Parameters and advice of Pass@k."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, field, method_doc
from trainer_core.spec.methods.kinds import GroupAdvantage


class PassKAdvantage(GroupAdvantage):
    """The advantage of every set of k samples with a right one, distributed over the samples in closed form."""

    model_config = method_doc(
        "Pass@k",
        "ρ = 1 − C(n−c, k)/C(n, k), σ = √(ρ(1 − ρ)); right: A = (1 − ρ)/(σ + ε); "
        "wrong: A = (1 − ρ − C(n−c−1, k−1)/C(n−1, k−1))/(σ + ε)",
        "Pass@k Training (arXiv 2508.10751), §2.4",
    )
    advice: ClassVar[Advice] = Advice(
        "When several tries are allowed in the end, or entropy falls too early: it rewards diversity.",
        ("actor/entropy", "critic/score/mean", "groups/zero_advantage_share"),
    )
    type: Literal["pass_k"] = "pass_k"
    k: int = field(4, ge=1, le=1024, unit="samples")
    """Size of the sets; at most the group size."""
    success: float = field(0.5)
    """Least reward of a sample that counts as right."""
    epsilon: float = field(1e-6, ge=0.0, le=1.0)
    """Added to the standard deviation."""
