"""Parameters and advice of REINFORCE++."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, field, method_doc
from trainer_core.spec.methods.advantage.deviation import Deviation
from trainer_core.spec.methods.kinds import Compared, ComparingAdvantage, Penalty


class ReinforcePlusPlusAdvantage(ComparingAdvantage):
    """Rewards standardised over the whole batch: no bias by the difficulty of a prompt, and no groups needed."""

    model_config = method_doc(
        "REINFORCE++",
        "A = (r − mean over the batch) / (std over the batch + ε); with the KL penalty in the reward each token has "
        "a_t = r − β·Σ_{i≥t} KL_i in place of r",
        "REINFORCE++ (arXiv 2501.03262), §3",
    )
    advice: ClassVar[Advice] = Advice(
        "General tasks with one or few samples per prompt, where the group is too small to standardise by.",
        ("critic/score/mean", "critic/score/std", "actor/grad_norm"),
    )
    compares: ClassVar[Compared] = "batch"
    penalty: ClassVar[Penalty] = "to_go"
    type: Literal["reinforce_pp"] = "reinforce_pp"
    weighting: Literal["tokens", "samples"] = "tokens"
    """Whether mean and deviation are taken over the batch's tokens, each with its sample's reward, or its samples."""
    std: Deviation = "population"
    """Which standard deviation divides: with n or with n − 1 in the denominator."""
    epsilon: float = field(1e-8, ge=0.0, le=1.0)
    """Added to the standard deviation."""
