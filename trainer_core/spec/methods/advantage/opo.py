"""Parameters and advice of OPO."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, method_doc
from trainer_core.spec.methods.kinds import GroupAdvantage
from trainer_core.spec.watched import GROUP


class OPOAdvantage(GroupAdvantage):
    """The baseline with the least variance when a sample's squared gradient grows with its length."""

    model_config = method_doc("OPO", "A_i = r_i − Σ_j L_j·r_j / Σ_j L_j, L = sampled tokens", "OPO (arXiv 2505.23585)")
    advice: ClassVar[Advice] = Advice(
        "On-policy training with very unequal lengths, without a clip or a KL penalty.",
        GROUP,
    )
    type: Literal["opo"] = "opo"
