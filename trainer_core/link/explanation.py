"""Explanation of a reward: the weight of each part, and the reason that its grader tells."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator

from trainer_core.link.base import Message, Number
from trainer_core.rewards.reasons import Explained, cut


class PartExplanation(Message):
    """A part of a reward, explained."""

    weight: Number
    """Its grade was multiplied by this and added to the reward."""
    reason: Annotated[str, AfterValidator(cut)] | None = None
    """The grader's own reason, of at most 600 characters; its end says so where it was longer. None: it told none."""


def explanations(explained: Mapping[str, Explained]) -> dict[str, PartExplanation]:
    """The explained parts of a score as messages carry them."""
    return {name: PartExplanation(weight=one.weight, reason=one.reason) for name, one in explained.items()}
