"""Parameters, advice and weight by ratio of REINFORCE."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, method_doc
from trainer_core.spec.methods.kinds import Anchor, LossModel


class ReinforceLoss(LossModel):
    """Plain policy gradient; only the corrections handle off-policy tokens."""

    model_config = method_doc("REINFORCE", "L = −A · log π_θ", "Williams 1992")
    advice: ClassVar[Advice] = Advice(
        "One update per step, on policy or with importance weights as corrections.",
        ("actor/entropy", "actor/grad_norm", "rollout_corr/kl"),
    )
    anchor: ClassVar[Anchor] = "none"
    type: Literal["reinforce"] = "reinforce"

    def gradient_weight(self, ratio: float, sign: int) -> float:
        """1 at every ratio."""
        return 1.0
