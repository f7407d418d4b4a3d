"""Stages of the data: which sources are drawn, from which band of difficulty, and the gate that ends each stage."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from trainer_core.spec.base import SpecModel, field

NAME = r"^[a-z0-9][a-z0-9_\-]{0,62}$"


class StageSource(SpecModel):
    """Weight of a source in one stage."""

    name: str = field(pattern=NAME)
    """Name of the source."""
    weight: float = field(1.0, ge=0.0, le=1e6, steer="group_dispatch", widget="slider")
    """Its weight in the stage."""


class StageBand(SpecModel):
    """The difficulty band of one stage, in place of the curriculum's."""

    min_pass_rate: float = field(0.0, ge=0.0, le=1.0, unit="share", steer="group_dispatch", widget="slider")
    """Lower edge: harder prompts are skipped."""
    max_pass_rate: float = field(1.0, ge=0.0, le=1.0, unit="share", steer="group_dispatch", widget="slider")
    """Upper edge: easier prompts are skipped."""

    @model_validator(mode="after")
    def _band_is_ordered(self) -> "StageBand":
        if self.min_pass_rate > self.max_pass_rate:
            raise ValueError("min_pass_rate must not be above max_pass_rate")
        return self


class StepsGate(SpecModel):
    """The stage ends after a number of steps."""

    type: Literal["steps"] = "steps"
    steps: int = field(ge=1, le=10_000_000, unit="steps", steer="group_dispatch")
    """Steps of the stage."""


class MeasuredGate(SpecModel):
    """Common part of gates on a measure: the mean over the stage's last steps passes a threshold. All groups count that
    were drawn in the stage and returned, including those that dynamic sampling replaces.
    """

    when: Literal["at_least", "at_most"] = "at_least"
    """Whether the gate opens when the mean is at least the threshold, or at most."""
    sources: tuple[str, ...] = field((), max_length=64)
    """Sources whose groups count. Empty: all."""
    window: int = field(4, ge=1, le=10_000, unit="steps")
    """Steps over which the mean is taken; the gate waits until the stage has that many."""
    min_steps: int = field(1, ge=1, le=10_000_000, unit="steps", steer="group_dispatch")
    """The stage lasts at least this many steps."""
    max_steps: int = field(ge=1, le=10_000_000, unit="steps", steer="group_dispatch")
    """The stage ends after this many steps, whatever the mean: a gate that never opens must not block the run."""

    @model_validator(mode="after")
    def _can_open(self) -> "MeasuredGate":
        if self.min_steps > self.max_steps:
            raise ValueError("min_steps must not be above max_steps")
        if self.window >= self.max_steps:
            raise ValueError("max_steps must be above the window: the stage would end before the gate is checked")
        return self


class RewardGate(MeasuredGate):
    """The stage ends when the mean reward passes a threshold."""

    type: Literal["reward"] = "reward"
    threshold: float = field(unit="reward", steer="group_dispatch")
    """Mean of the rewards that could be computed."""


class PassRateGate(MeasuredGate):
    """The stage ends when the pass rate passes a threshold."""

    type: Literal["pass_rate"] = "pass_rate"
    threshold: float = field(ge=0.0, le=1.0, unit="share", steer="group_dispatch", widget="slider")
    """Successful samples / scored samples."""


class LengthGate(MeasuredGate):
    """The stage ends when the mean length of completions passes a threshold."""

    type: Literal["response_length"] = "response_length"
    threshold: float = field(gt=0.0, unit="tokens", steer="group_dispatch")
    """Mean tokens of a completion."""


Gate = Annotated[StepsGate | RewardGate | PassRateGate | LengthGate, Field(discriminator="type")]


class Stage(SpecModel):
    """One stage: its mixture, its band, and the gate that ends it. While the stage lasts, its values replace those of
    ``data.sources`` and ``curriculum``: the stage's values are steered, and they apply to it alone. The next stage
    begins with its own.
    """

    name: str = field(pattern=NAME)
    """Short name of the stage in events and controls."""
    sources: tuple[StageSource, ...] = field((), max_length=64)
    """The mixture: sources that are not named are not drawn. Empty: all sources by their own weights."""
    band: StageBand | None = None
    """The band of pass rates that prompts are drawn from, if the curriculum has one. Empty: the curriculum's."""
    gate: Gate | None = None
    """What ends the stage. The last stage has none, all others have one."""
