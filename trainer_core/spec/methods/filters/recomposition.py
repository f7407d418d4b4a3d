"""Parameters and advice of Recomposition (RoRecomp)."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, field, method_doc
from trainer_core.spec.methods.kinds import FilterModel
from trainer_core.spec.watched import LENGTH


class RecompositionFilter(FilterModel):
    """Rollout response recomposition: learn from short right and long wrong answers, and sometimes from the rest.

    In priority steps a share of the right answers, the shortest, and the same share of the wrong ones, the longest, is
    learned from. Every ``compensation_every`` steps the others are used: those of that step's own rollouts, which are
    on policy; the paper takes them from a replay buffer.
    """

    model_config = method_doc(
        "Recomposition (RoRecomp)",
        "priority: shortest right ∪ longest wrong, ⌈share·n⌉ each; compensation: the others",
        "RoRecomp (arXiv 2509.25958)",
    )
    advice: ClassVar[Advice] = Advice(
        "To make a policy concise without changing its reward.",
        LENGTH,
    )
    whole_step: ClassVar[bool] = True
    type: Literal["recomposition"] = "recomposition"
    share: float = field(0.5, gt=0.0, lt=1.0, unit="share")
    """Share of a step's right answers, and of its wrong ones, that has priority."""
    compensation_every: int = field(4, ge=2, unit="steps")
    """Interval in steps at which the others are learned from instead."""
    success: float = field(0.5)
    """Least reward of an answer that counts as right."""
