"""Parameters and advice of Length outliers (DOT)."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, field, method_doc
from trainer_core.spec.methods.kinds import FilterModel, Stage
from trainer_core.spec.watched import LENGTH


class LengthOutliersFilter(FilterModel):
    """Dynamic outlier truncation: where every answer of a group is right, the far too long ones are cut short.

    A cut answer has no end, so it is worth ``reward`` instead: the one signal in a group that had none. It comes before
    the advantages are made. In a group of n, no length lies more than (n − 1)/√n sample deviations above the mean:
    below ``deviations`` = 3 that takes at least 11 samples.
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
    """α: how many sample standard deviations above the mean length the cut is made."""
    margin: int = field(32, ge=1, unit="tokens")
    """Shortest excess that is cut off."""
    success: float = field(1.0)
    """Reward from which an answer counts as right."""
    reward: float = field(0.0)
    """Reward of an answer that was cut."""
