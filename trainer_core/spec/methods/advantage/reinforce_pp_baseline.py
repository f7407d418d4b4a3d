"""Parameters and advice of REINFORCE++ baseline."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, field, method_doc
from trainer_core.spec.methods.advantage.deviation import Deviation
from trainer_core.spec.methods.kinds import ComparingAdvantage, Penalty
from trainer_core.spec.watched import GROUP


class ReinforcePlusPlusBaselineAdvantage(ComparingAdvantage):
    """REINFORCE++ with several samples per prompt: the group's mean is subtracted first, then the batch
    standardises."""

    model_config = method_doc(
        "REINFORCE++ baseline",
        "a = r − mean over the group; A = (a − mean over the batch) / (std over the batch + ε); with the KL penalty in "
        "the reward each token has a_t = a − β·Σ_{i≥t} KL_i in place of a",
        "REINFORCE++ (arXiv 2501.03262), §3",
    )
    advice: ClassVar[Advice] = Advice(
        "Reasoning tasks with groups, when single groups must not set the scale of their own updates.",
        GROUP,
    )
    penalty: ClassVar[Penalty] = "to_go"
    type: Literal["reinforce_pp_baseline"] = "reinforce_pp_baseline"
    weighting: Literal["tokens", "samples"] = "tokens"
    """Whether mean and deviation of the batch are taken over its tokens or its samples."""
    std: Deviation = "population"
    """Which standard deviation divides: with n or with n − 1 in the denominator."""
    epsilon: float = field(1e-8, ge=0.0, le=1.0)
    """Added to the standard deviation."""
