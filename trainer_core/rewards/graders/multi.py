"""OpenAI's ``multi``: several graders and a formula."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from pydantic import model_validator

from trainer_core.rewards.grader_model import GraderModel
from trainer_core.rewards.graders import formula
from trainer_core.spec.base import field

Grade = Callable[[Any], float]
"""Grades the sample at hand by a grader."""


class MultiGrader(GraderModel):
    """The value of a formula over the grades of named graders."""

    type: Literal["multi"] = "multi"
    name: str = field("", max_length=200)
    """Label; has no effect."""
    graders: Mapping[str, Grader] = field(min_length=1, max_length=16)  # type: ignore[name-defined]  # noqa: F821
    """The graders, by the names that the formula uses."""
    calculate_output: str = field(min_length=1, max_length=2000)
    """Formula: + - * / ^, min, max, abs, floor, ceil, exp, sqrt, log."""

    @model_validator(mode="after")
    def _names_are_known(self) -> MultiGrader:
        unknown = formula.names(self.calculate_output) - self.graders.keys()
        if unknown:
            raise ValueError(f"calculate_output uses {sorted(unknown)[0]!r}, which is no grader here")
        return self

    def combine(self, grade: Grade) -> float:
        """The formula's value. Raises GraderError where it has none."""
        return formula.compute(self.calculate_output, {name: grade(part) for name, part in self.graders.items()})
