"""Alarms that watch metrics and may pause the run."""

from typing import Literal

from pydantic import model_validator

from trainer_core.spec.base import SpecModel, field


class MetricBound(SpecModel):
    """Act when a metric stays outside its bounds for some steps in a row."""

    type: Literal["metric_bound"] = "metric_bound"
    metric: str = field(min_length=1)
    """Name in the metrics registry, such as ``rollout_corr/kl``."""
    min: float | None = None
    """Lower bound."""
    max: float | None = None
    """Upper bound."""
    for_steps: int = field(1, ge=1, le=100_000, unit="steps")
    """Steps in a row outside the bounds before the guard acts."""
    action: Literal["alert", "pause"] = "alert"
    """Write an alert into the events, or pause the run as well."""

    @model_validator(mode="after")
    def _has_a_bound(self) -> "MetricBound":
        if self.min is None and self.max is None:
            raise ValueError("a guard needs a lower or an upper bound")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("min must not be above max")
        return self


Guard = MetricBound
