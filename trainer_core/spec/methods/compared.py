"""What every advantage method tells the parts around it."""

from typing import ClassVar, Literal

from trainer_core.spec.base import SpecModel

Compared = Literal["group", "parts", "batch", "value", "branches"]
"""What a reward is measured against: the rewards of its group, each part of them alone, those of the whole batch, a
value that a critic has predicted, or the rewards of branches from the same state."""


class AdvantageModel(SpecModel):
    """What the parts around an advantage must know of it."""

    compares: ClassVar[Compared] = "group"
