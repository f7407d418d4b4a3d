"""Parameters and advice of RLOO."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, method_doc
from trainer_core.spec.methods.kinds import GroupAdvantage, Penalty
from trainer_core.spec.watched import GROUP


class RLOOAdvantage(GroupAdvantage):
    """The reward above the mean of the other samples of the group: an unbiased baseline."""

    model_config = method_doc(
        "RLOO",
        "A_i = r_i − Σ_{j≠i} r_j / (n − 1) = n/(n − 1) · (r_i − mean(r)); with the KL penalty in the reward r_i − β·Σ_t"
        " KL_{i,t} replaces r_i, in the baseline as well",
        "Back to Basics (arXiv 2402.14740), §3.3; Kool et al. 2019",
    )
    advice: ClassVar[Advice] = Advice(
        "Small groups (2 to 8) on policy: unbiased, without a deviation to divide by.",
        GROUP,
    )
    penalty: ClassVar[Penalty] = "sequence"
    type: Literal["rloo"] = "rloo"
