"""Grades answers to variations with a reward, in the process of a job.

Graders that need no tools run in processes that can be killed. Mathematical equality is decided as far as the form
allows.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from trainer_core.rewards import RewardDefinition, Sample, split_thinking
from trainer_core.rewards.answers import readings
from trainer_core.rewards.errors import GraderBug
from trainer_core.rewards.grader_model import GraderModel
from trainer_core.rewards.graders.tools import Tools
from trainer_core.rewards.isolated.places import Places
from trainer_core.rewards.isolated.process import GradeLimits
from trainer_core.rewards.score import score
from trainer_core.rewards.success import least

EQUALITY = RewardDefinition.model_validate({"components": [{"name": "answer", "grader": {"type": "math"}}]})
"""The default reward."""
_LIMITS = GradeLimits(cpu_s=2.0, wall_s=50.0)


class GradedAnswer(NamedTuple):
    """The reward's result for an answer."""

    right: bool | None
    """None if it could not be graded."""
    said: str
    """The final answer that the reward reads; empty if it finds none."""
    error: str


class AnswerGrading:
    """Grades with one reward. Thread-safe."""

    def __init__(self, definition: RewardDefinition, at_once: int) -> None:
        self._definition = definition
        self._place = next((place for place in readings(definition) if place.reference is not None), None)
        self._places = Places(at_once)

    def grade(self, text: str, row: Mapping[str, Any]) -> GradedAnswer:
        """The grade of an answer to a row."""
        thoughts, answer = split_thinking(text, "<think>", "</think>")
        try:
            found = score(self._definition, Sample(text, thoughts, answer, None), row, Tools(pure=_Pure(self._places)))
        except GraderBug as error:
            return GradedAnswer(None, "", str(error))
        if found.reward is None:
            return GradedAnswer(None, "", found.error or "")
        said = self._place.find(answer) if self._place is not None else None
        right = found.reward >= least(self._definition.success_threshold)
        return GradedAnswer(right, " ".join((said or "").split()), "")

    def close(self) -> None:
        """End the processes."""
        self._places.close()


class _Pure:
    """Implements ``trainer_core.rewards.graders.tools.PureGrading``."""

    def __init__(self, places: Places) -> None:
        self._places = places

    def grade(self, grader: GraderModel, sample: Sample, item: Mapping[str, Any]) -> float:
        with self._places.place() as process:
            return process.grade(grader, sample, item, _LIMITS)
