"""Parameters and advice of Length outliers (DOT)."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, field, method_doc
from trainer_core.spec.methods.kinds import FilterModel, Stage
from trainer_core.spec.watched import LENGTH


class LengthOutliersFilter(FilterModel):
    """Dynamic outlier truncation: if every answer of a group is right, the far too long ones are truncated. A truncated
    answer has no end, so it gets ``reward`` instead: the only signal in a group that had none. It runs before the
    advantages are computed. In a group of n, no length lies more than (n − 1)/√n sample deviations above the mean: to
    exceed ``deviations`` = 3 takes at least 11 samples.
    """

    model_config = method_doc(
        "Length outliers (DOT)",
        "if all r ≥ success: T = ⌊mean(L) + α·std(L)⌋; cut to T where L − T ≥ margin",
        "Anti-Length Shift (arXiv 2601.03969)",
    )
    advice: ClassVar[Advice] = Advice(
        "When answers to mastered prompts get ever longer.",
        LENGTH,
    )
    stage: ClassVar[Stage] = "rewards"
    type: Literal["length_outliers"] = "length_outliers"
    deviations: float = field(3.0, ge=0.0, le=10.0)
    """α: sample standard deviations above the mean length at which answers are cut."""
    margin: int = field(32, ge=1, unit="tokens")
    """Smallest excess that is cut off."""
    success: float = field(1.0)
    """Least reward of an answer that counts as right."""
    reward: float = field(0.0)
    """Reward of an answer that was cut."""
