"""Which trajectories are left out of the loss."""

from typing import Annotated, Literal

from pydantic import Field

from trainer_core.spec.base import SpecModel, field, method_doc


class ZeroAdvantageFilter(SpecModel):
    """Leave out groups whose rewards are all the same: they carry no signal."""

    model_config = method_doc(
        "Zero-advantage groups", "drop when max(r) − min(r) ≤ tolerance", "DAPO (arXiv 2503.14476), §3.2"
    )
    type: Literal["zero_advantage"] = "zero_advantage"
    tolerance: float = field(1e-8, ge=0.0)
    """Rewards closer than this count as equal."""


class TruncatedFilter(SpecModel):
    """Leave out completions that were cut at the maximum length (overlong filtering)."""

    model_config = method_doc("Overlong filtering", "mask when finish_reason = length", "DAPO (arXiv 2503.14476), §3.4")
    type: Literal["truncated"] = "truncated"


Filter = Annotated[ZeroAdvantageFilter | TruncatedFilter, Field(discriminator="type")]
