"""Parameters and advice of Magistral."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, field, method_doc
from trainer_core.spec.methods.advantage.deviation import Deviation
from trainer_core.spec.methods.kinds import ComparingAdvantage
from trainer_core.spec.watched import GROUP


class MagistralAdvantage(ComparingAdvantage):
    """The group's mean is subtracted; the deviation is that of the minibatch, so that no prompt is inflated."""

    model_config = method_doc(
        "Magistral",
        "a_i = r_i − mean over the group; A_i = (a_i − mean over the minibatch) / (std over the minibatch + ε)",
        "Magistral (arXiv 2506.10910), §2.1",
    )
    advice: ClassVar[Advice] = Advice(
        "Groups of similar rewards would otherwise be inflated by their tiny deviation.",
        GROUP,
    )
    type: Literal["magistral"] = "magistral"
    std: Deviation = "population"
    """Which standard deviation divides: with n or with n − 1 in the denominator."""
    epsilon: float = field(1e-6, ge=0.0, le=1.0)
    """Added to the standard deviation."""
