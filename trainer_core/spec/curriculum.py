"""Which prompts are drawn next."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from trainer_core.spec.base import SpecModel, field


class UniformCurriculum(SpecModel):
    """Sources by weight; within a source every prompt once per epoch, in a seeded random order."""

    type: Literal["uniform"] = "uniform"


class DifficultyBandCurriculum(SpecModel):
    """Sources by weight; within a source, prompts whose running pass rate lies in a band.

    The pass rate of a prompt is a decayed mean: p ← decay · p + (1 − decay) · group pass rate. Prompts that were never
    tried count as inside the band. A share of draws explores outside it, so that a prompt can come back.
    """

    type: Literal["difficulty_band"] = "difficulty_band"
    min_pass_rate: float = field(0.05, ge=0.0, le=1.0, unit="share", steer="group_dispatch", widget="slider")
    """Lower edge of the band: harder prompts rest."""
    max_pass_rate: float = field(0.95, ge=0.0, le=1.0, unit="share", steer="group_dispatch", widget="slider")
    """Upper edge of the band: mastered prompts rest."""
    decay: float = field(0.5, ge=0.0, lt=1.0)
    """Weight of the past in the running pass rate."""
    explore: float = field(0.1, ge=0.0, le=1.0, unit="share", steer="group_dispatch")
    """Share of draws taken from outside the band."""

    @model_validator(mode="after")
    def _band_is_ordered(self) -> "DifficultyBandCurriculum":
        if self.min_pass_rate > self.max_pass_rate:
            raise ValueError("min_pass_rate must not be above max_pass_rate")
        return self


Curriculum = Annotated[UniformCurriculum | DifficultyBandCurriculum, Field(discriminator="type")]
