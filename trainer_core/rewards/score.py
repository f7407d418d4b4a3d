"""Scores a completion by a reward definition."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from trainer_core.rewards.definition import RewardDefinition
from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.graders import grade
from trainer_core.rewards.sample import Sample, split_thinking

__all__ = ["Sample", "Score", "score", "split_thinking"]


@dataclass(frozen=True, slots=True)
class Score:
    """A reward with its parts, or the error that kept it from being computed."""

    reward: float | None
    """None when a part failed: an error is never a zero."""
    parts: dict[str, float] = field(default_factory=dict)
    """Grade of each component before its weight; those that could be computed."""
    error: str | None = None
    """``component: message`` of the first part that failed."""


def score(definition: RewardDefinition, sample: Sample, item: Mapping[str, Any]) -> Score:
    """The reward of ``sample`` for the dataset row ``item``."""
    parts: dict[str, float] = {}
    error = None
    for component in definition.components:
        try:
            value = grade(component.grader, sample, item)
        except GraderError as failure:
            error = error or f"{component.name}: {failure}"
            continue
        if not math.isfinite(value):
            error = error or f"{component.name}: the grade is {value}, not a finite number"
            continue
        parts[component.name] = value
    if error is not None:
        return Score(reward=None, parts=parts, error=error)
    weights = {component.name: component.weight for component in definition.components}
    return Score(reward=sum(weights[name] * value for name, value in parts.items()), parts=parts)
