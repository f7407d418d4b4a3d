"""Scores a completion by a reward definition."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trainer_core.rewards.definition import Component, RewardDefinition
from trainer_core.rewards.errors import GraderError, GraderStopped
from trainer_core.rewards.graders import grade
from trainer_core.rewards.graders.tools import Tools
from trainer_core.rewards.reasons import Explained, cut, joined, told
from trainer_core.rewards.sample import Sample, split_thinking

__all__ = ["Sample", "Score", "score", "score_batch", "split_thinking"]


@dataclass(frozen=True, slots=True)
class Score:
    """A finite reward with its parts, or the error that kept it from being computed: one of the two.

    Raises:
        ValueError: there is neither or both, or the reward is NaN or infinite.
    """

    reward: float | None
    """None when a part failed: an error is never a zero."""
    parts: dict[str, float] = field(default_factory=dict)
    """Grade of each component before its weight; those that could be computed."""
    error: str | None = None
    """``component: message`` of the first part that failed."""
    forgiven: tuple[str, ...] = ()
    """``component: message`` of the parts that failed and count as 0, because their component says so."""
    stop: bool = False
    """A part failed whose component asks for the run to stop."""
    explained: dict[str, Explained] = field(default_factory=dict, compare=False)
    """Weight and reason of each component that is for the row; of one that failed, the error is the reason."""

    def __post_init__(self) -> None:
        if (self.reward is None) == (self.error is None):
            raise ValueError("a score has either a reward or an error")
        if self.reward is not None and not math.isfinite(self.reward):
            raise ValueError(f"the reward is {self.reward}, not a finite number")


def score(
    definition: RewardDefinition,
    sample: Sample,
    item: Mapping[str, Any],
    tools: Tools = Tools(),  # noqa: B008
) -> Score:
    """The reward of ``sample`` for the dataset row ``item``. Bad output scores low; a bad row is an error.

    Args:
        tools: jail, judges and reward models; parts that need one that is not there fail.
    """
    parts: dict[str, float] = {}
    error, stop, forgiven = None, False, []
    concerned = [component for component in definition.components if component.concerns(item)]
    if not concerned:
        fields = ", ".join(sorted({str(component.row_field) for component in definition.components}))
        return Score(reward=None, error=f"no part of the reward is for this row: it holds none of {fields}")
    explained: dict[str, Explained] = {}

    def explain(component: Component, reason: str | None) -> None:
        explained[component.name] = Explained(component.weight, reason)

    for component in concerned:
        try:
            with told() as reasons:
                value = grade(component.grader, sample, item, tools)
            if not math.isfinite(value):
                raise GraderError(f"the grade is {value}, not a finite number")
            parts[component.name] = value
            explain(component, joined(reasons))
        except GraderStopped as stopped:  # forgiven by no component
            error, stop = error or f"{component.name}: {stopped}", stop or component.on_error == "stop"
            explain(component, cut(f"Failed: {stopped}"))
        except GraderError as failure:
            message = f"{component.name}: {failure}"
            counted = "Failed, counts as 0" if component.on_error == "zero" else "Failed"
            explain(component, cut(f"{counted}: {failure}"))
            if component.on_error == "zero":
                parts[component.name] = 0.0
                forgiven.append(message)
                continue
            error, stop = error or message, stop or component.on_error == "stop"
    if error is not None:
        return Score(None, parts, error, tuple(forgiven), stop, explained)
    weights = {component.name: component.weight for component in definition.components}
    reward = sum(weights[name] * value for name, value in parts.items())
    return Score(reward=reward, parts=parts, forgiven=tuple(forgiven), explained=explained)


def score_batch(
    definition: RewardDefinition,
    samples: Sequence[Sample],
    items: Sequence[Mapping[str, Any]],
    tools: Tools = Tools(),  # noqa: B008
) -> list[Score]:
    """One score per sample, in order.

    Raises:
        ValueError: there are not as many rows as samples.
    """
    if len(samples) != len(items):
        raise ValueError(f"{len(samples)} samples cannot be scored against {len(items)} rows")
    return [score(definition, sample, item, tools) for sample, item in zip(samples, items, strict=True)]
