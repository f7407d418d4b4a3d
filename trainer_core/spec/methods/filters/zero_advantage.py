"""Parameters and advice of Zero-advantage groups."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, field, method_doc
from trainer_core.spec.methods.kinds import FilterModel


class ZeroAdvantageFilter(FilterModel):
    """Exclude groups whose rewards are all equal: they carry no signal. If the advantage compares each part of the
    reward separately, these are the groups whose advantages are all 0. If it compares with the batch or with a critic's
    value, equal rewards do carry a signal, as they do under a KL penalty in the reward, which each completion pays by
    its own distance: then no group is excluded.
    """

    model_config = method_doc(
        "Zero-advantage groups", "drop when max(r) − min(r) ≤ tolerance", "DAPO (arXiv 2503.14476), §3.2"
    )
    advice: ClassVar[Advice] = Advice(
        "Nearly always: groups without signal only dilute the mean.",
        ("groups/zero_advantage_share", "groups/count"),
    )
    type: Literal["zero_advantage"] = "zero_advantage"
    tolerance: float = field(1e-8, ge=0.0)
    """Rewards closer than this count as equal."""
