"""Guards: alarms that watch metrics, and may pause the run, change a knob, or roll the run back."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from trainer_core.spec.base import SpecModel, field

REPEATED = ("change", "roll_back")
"""Actions that steer, and are bounded by ``at_most`` and ``cooldown``."""


class KnobChange(SpecModel):
    """A change that a guard makes: a steerable field set to a value, or its number multiplied."""

    target: str = field(min_length=1, max_length=200)
    """Path of a steerable field, such as ``optimizer.learning_rate``."""
    value: float | str | None = None
    """New value."""
    multiply: float | None = field(None, gt=0.0, le=1000.0)
    """Factor on the value in force when the guard acts: 0.5 halves it."""

    @model_validator(mode="after")
    def _is_one_of_two(self) -> "KnobChange":
        if (self.value is None) == (self.multiply is None):
            raise ValueError("a change needs either a value or a factor to multiply by")
        return self


class GuardBase(SpecModel):
    """Common part of all guards. A value that is not a number triggers every guard."""

    name: str = field("", max_length=60, pattern=r"^(?:\S(?:.*\S)?)?$")
    """Display name, such as "entropy collapse". Changes are made as ``guard:<name>``. Empty: the metric's."""
    metric: str = field(min_length=1)
    """Name in the metrics registry, such as ``rollout_corr/kl``."""
    action: Literal["alert", "pause", "change", "roll_back"] = "alert"
    """Write an alert into the events; pause the run as well; change a field, as users do; or pause the run and continue
    in a child run from the checkpoint before it began."""
    change: KnobChange | None = None
    """Field that is changed in this run or, after a roll back, in the child."""
    at_most: int = field(1, ge=1, le=20, unit="times")
    """Maximum of changes or roll backs by this guard in one run, including parents that were rolled back."""
    cooldown: int = field(20, ge=1, le=100_000, unit="steps")
    """Steps after a change before the guard may make another."""
    unless_solved: bool = False
    """Accept any number while nine samples in ten of the training prompts succeed: little is then left to learn."""
    severity: Literal["warn", "error"] = "warn"
    """Whether the run is marked amber or red while the guard is violated."""
    muted_until: int | None = field(None, ge=1, le=2_000_000_000, unit="step")
    """Step from which the guard acts again; before it, it only counts."""
    why: str = field("", max_length=500)
    """Reason for the threshold, for users."""

    @property
    def key(self) -> str:
        """Name by which the guard is known: its own, or its metric's."""
        return self.name or self.metric

    @model_validator(mode="after")
    def _knows_its_change(self) -> "GuardBase":
        if self.action == "change" and self.change is None:
            raise ValueError("a guard that changes a field needs the change")
        if self.change is not None and self.action not in REPEATED:
            raise ValueError(f"the change would never be applied: the guard's action is {self.action}")
        return self


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
    """Largest rise relative to the mean: 0.5 means half of the mean's size above it."""
    max_fall: float | None = field(None, gt=0.0, unit="share")
    """Largest fall relative to the mean."""
    window: int = field(20, ge=1, le=10_000, unit="steps")
    """Reported values before this one that make up the mean; the guard waits until there are that many."""
    for_steps: int = field(1, ge=1, le=100_000, unit="steps")
    """Steps in a row before the guard acts. Must not exceed the window, or the mean catches up first."""

    @model_validator(mode="after")
    def _has_a_limit(self) -> "MetricChange":
        if self.max_rise is None and self.max_fall is None:
            raise ValueError("a guard needs a largest rise or a largest fall")
        if self.for_steps > self.window:
            raise ValueError("for_steps must not be above the window: the mean would have caught up")
        return self


class MetricStuck(GuardBase):
    """Act when a metric is stuck: a reward that is always 0, an entropy that does not move."""

    type: Literal["metric_stuck"] = "metric_stuck"
    tolerance: float = field(0.0, ge=0.0)
    """Largest difference between the highest and the lowest value that counts as stuck."""
    for_steps: int = field(20, ge=2, le=10_000, unit="steps")
    """Reported values in a row that must lie within the tolerance."""


class HeldOutFalls(GuardBase):
    """Act when the held-out reward falls below its best while the reward of training has risen since: the policy has
    learned what the reward pays for, not what was intended."""

    type: Literal["held_out_falls"] = "held_out_falls"
    metric: str = field("critic/score/mean", min_length=1)
    """Training metric whose mean since the last evaluation is compared."""
    max_fall: float = field(0.1, gt=0.0, unit="share")
    """Largest fall of the mean held-out reward from its best: 0.1 means a tenth of the best's size."""
    for_steps: int = field(2, ge=1, le=1000, unit="evaluations")
    """Evaluations in a row before the guard acts."""


def _typed(value: Any) -> Any:
    """Specs from the time of one kind of guard do not name it."""
    return {"type": "metric_bound", **value} if isinstance(value, dict) and "type" not in value else value


Guard = Annotated[
    MetricBound | MetricChange | MetricStuck | HeldOutFalls, Field(discriminator="type"), BeforeValidator(_typed)
]


def keys(guards: Sequence[Guard]) -> list[str]:
    """Name of each guard, by which it is told from the others: guards without one on one metric are numbered."""
    found: list[str] = []
    for guard in guards:
        key, number = guard.key, 2
        while key in found:
            key, number = f"{guard.key} ({number})", number + 1
        found.append(key)
    return found
