"""Graders: one file each, parameters and function together. Each returns a number, or raises ``GraderError``."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from trainer_core.rewards.graders.exact import ExactGrader
from trainer_core.rewards.graders.format import FormatGrader
from trainer_core.rewards.graders.length_penalty import LengthPenaltyGrader
from trainer_core.rewards.graders.numeric import NumericGrader
from trainer_core.rewards.sample import Sample

Grader = Annotated[ExactGrader | NumericGrader | FormatGrader | LengthPenaltyGrader, Field(discriminator="type")]


def grade(grader: Grader, sample: Sample, item: Mapping[str, Any]) -> float:
    """The grade of ``sample`` for the dataset row ``item``.

    Raises:
        GraderError: the reward cannot be computed.
    """
    return grader.grade(sample, item)
