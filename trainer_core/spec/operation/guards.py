"""Alarms that watch metrics and may pause the run."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from trainer_core.spec.base import SpecModel, field


class GuardBase(SpecModel):
    """What all guards share. A value that is no number sets off every guard."""

    metric: str = field(min_length=1)
    """Name in the metrics registry, such as ``rollout_corr/kl``."""
    action: Literal["alert", "pause"] = "alert"
    """Write an alert into the events, or pause the run as well."""


class MetricBound(GuardBase):
    """Act when a metric stays outside its bounds for some steps in a row."""

    type: Literal["metric_bound"] = "metric_bound"
    min: float | None = None
    """Lower bound."""
    max: float | None = None
    """Upper bound."""
    for_steps: int = field(1, ge=1, le=100_000, unit="steps")
    """Steps in a row outside the bounds before the guard acts."""

    @model_validator(mode="after")
    def _has_a_bound(self) -> "MetricBound":
        if self.min is None and self.max is None:
            raise ValueError("a guard needs a lower or an upper bound")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("min must not be above max")
        return self


class MetricChange(GuardBase):
    """Act when a metric leaves its own recent mean by more than a share of it, for some steps in a row."""

    type: Literal["metric_change"] = "metric_change"
    max_rise: float | None = field(None, gt=0.0, unit="share")
    """Largest rise against the mean: 0.5 means half of the mean's size above it."""
    max_fall: float | None = field(None, gt=0.0, unit="share")
    """Largest fall against the mean."""
    window: int = field(20, ge=1, le=10_000, unit="steps")
    """Reported values before this one that make up the mean; the guard waits until there are as many."""
    for_steps: int = field(1, ge=1, le=100_000, unit="steps")
    """Steps in a row before the guard acts. Longer than the window, the mean catches up first."""

    @model_validator(mode="after")
    def _has_a_limit(self) -> "MetricChange":
        if self.max_rise is None and self.max_fall is None:
            raise ValueError("a guard needs a largest rise or a largest fall")
        if self.for_steps > self.window:
            raise ValueError("for_steps must not be above the window: the mean would have caught up")
        return self


class MetricStuck(GuardBase):
    """Act when a metric has stood still: a reward that is always 0, an entropy that does not move."""

    type: Literal["metric_stuck"] = "metric_stuck"
    tolerance: float = field(0.0, ge=0.0)
    """Largest difference between the highest and the lowest value that counts as standing still."""
    for_steps: int = field(20, ge=2, le=10_000, unit="steps")
    """Reported values in a row that must lie within the tolerance."""


def _typed(value: Any) -> Any:
    """Specs from the time of one kind of guard do not name it."""
    return {"type": "metric_bound", **value} if isinstance(value, dict) and "type" not in value else value


Guard = Annotated[MetricBound | MetricChange | MetricStuck, Field(discriminator="type"), BeforeValidator(_typed)]
