"""Grades combined: weighted sum, product, gate, or the least."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

from trainer_core.rewards.grader_model import GraderModel
from trainer_core.spec.base import SpecModel, field

Grade = Callable[[Any], float]
"""Grades the sample at hand by a grader."""


class Part(SpecModel):
    """A grader with its weight."""

    grader: Grader  # type: ignore[name-defined]  # noqa: F821
    """How the part is graded."""
    weight: float = field(1.0, ge=-1000.0, le=1000.0)
    """Factor, for ``sum`` and ``gate``."""


class CompositeGrader(GraderModel):
    """One grade from several. ``gate`` is 0 unless the first part reaches ``gate_at``, else the sum of the others."""

    type: Literal["composite"] = "composite"
    how: Literal["sum", "product", "gate", "min"] = "sum"
    """Weighted sum, product, gate, or the least grade."""
    parts: tuple[Part, ...] = field(min_length=1, max_length=16)
    """The parts, in order."""
    gate_at: float = field(1.0, ge=-1000.0, le=1000.0)
    """Grade of the first part from which the others count."""

    def combine(self, grade: Grade) -> float:
        """The combined grade. Behind a closed gate nothing is graded."""
        match self.how:
            case "sum":
                return math.fsum(part.weight * grade(part.grader) for part in self.parts)
            case "product":
                return math.prod(grade(part.grader) for part in self.parts)
            case "min":
                return min(grade(part.grader) for part in self.parts)
            case "gate":
                if grade(self.parts[0].grader) < self.gate_at:
                    return 0.0
                return math.fsum(part.weight * grade(part.grader) for part in self.parts[1:])
