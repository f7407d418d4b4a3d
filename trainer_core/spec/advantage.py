"""How rewards become advantages."""

from typing import Annotated, Literal

from pydantic import Field

from trainer_core.spec.base import SpecModel, field, method_doc


class GRPOAdvantage(SpecModel):
    """Group-relative advantage. A group of one, or of equal rewards, has advantage 0."""

    model_config = method_doc("GRPO", "A_i = (r_i − mean(r)) / (std(r) + ε)", "DeepSeekMath (arXiv 2402.03300), §4.1.2")
    type: Literal["grpo"] = "grpo"
    std: Literal["population", "sample"] = "sample"
    """Which standard deviation divides: with n or with n − 1 in the denominator."""
    epsilon: float = field(1e-6, ge=0.0, le=1.0)
    """Added to the standard deviation."""


class DrGRPOAdvantage(SpecModel):
    """Group-relative advantage without division by the standard deviation, which favours easy and hard prompts."""

    model_config = method_doc(
        "Dr. GRPO", "A_i = r_i − mean(r)", "Understanding R1-Zero-like training (arXiv 2503.20783)"
    )
    type: Literal["dr_grpo"] = "dr_grpo"


Advantage = Annotated[GRPOAdvantage | DrGRPOAdvantage, Field(discriminator="type")]
