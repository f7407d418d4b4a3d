"""Graders that need no tools, run in processes that can be killed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainer_core.rewards.errors import GraderStopped
from trainer_core.rewards.grader_model import GraderModel
from trainer_core.rewards.isolated.places import Places
from trainer_core.rewards.isolated.process import GradeLimits
from trainer_core.rewards.sample import Sample
from worker.errors import StartError
from worker.judge.clock import outside

WALL_PER_CPU = 10.0
SPARE_S = 30.0
"""A grader's wall time may be ``WALL_PER_CPU`` times its processor time plus this."""


def longest_s(cpu_s: float) -> float:
    """Longest wall time of a grade that may use ``cpu_s`` of processor time."""
    return WALL_PER_CPU * cpu_s + SPARE_S


class PureProcesses:
    """Implements ``trainer_core.rewards.graders.tools.PureGrading``. Thread-safe.

    The sample's clock stops while a grade runs: the process has its own limit on processor time, so that the result
    does not depend on other load on the machine.
    """

    def __init__(self, size: int, cpu_s: float) -> None:
        """``cpu_s``: processor time for one grade."""
        self._places = Places(size)
        self._limits = GradeLimits(cpu_s, longest_s(cpu_s))

    def start(self) -> None:
        """Load the graders. Raises StartError."""
        try:
            self._places.template.start()
        except GraderStopped as error:
            raise StartError(str(error)) from error

    def grade(self, grader: GraderModel, sample: Sample, item: Mapping[str, Any]) -> float:
        with outside(), self._places.place() as process:
            return process.grade(grader, sample, item, self._limits)

    def close(self) -> None:
        """End the processes."""
        self._places.close()
