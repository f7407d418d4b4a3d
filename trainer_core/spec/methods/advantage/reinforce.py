"""Parameters and advice of REINFORCE with batch baseline."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, method_doc
from trainer_core.spec.methods.kinds import Compared, GroupAdvantage


class ReinforceAdvantage(GroupAdvantage):
    """The reward above the mean of the batch: no groups needed. A batch of one has advantage 0."""

    model_config = method_doc(
        "REINFORCE with batch baseline", "A_i = r_i − mean(r over the batch)", "Williams 1992 (REINFORCE), §5"
    )
    advice: ClassVar[Advice] = Advice(
        "One sample per prompt, or as the plainest baseline to compare with. Needs prompts of similar difficulty.",
        ("critic/score/mean", "critic/score/std", "actor/grad_norm"),
    )
    compares: ClassVar[Compared] = "batch"
    type: Literal["reinforce"] = "reinforce"
