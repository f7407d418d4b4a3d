"""Alerts to the user: failed rewards, data without signal, new data stages."""

from __future__ import annotations

from trainer_core.link.events import AlertData
from trainer_core.rewards.errors import grouped, kind
from trainer_core.rewards.outcomes import error_share
from trainer_core.spec import RunSpec
from trainer_core.steering.curriculum import StageBegun
from worker.messages.ticket import Batch


def reward_trouble(batch: Batch) -> str | None:
    """Reason why the run must not continue with these rewards, or None."""
    share, reward = error_share(batch.groups), batch.spec.reward
    stops = reward.on_error == "stop" or any(t.verdict.stops for group in batch.groups for t in group.trajectories)
    if share == 0.0 or (share <= reward.max_error_share and not stops):
        return None
    errors = [t.verdict.error for group in batch.groups for t in group.trajectories if t.verdict.error is not None]
    return f"{len(errors)} rewards of step {batch.step} ({share:.0%}) could not be computed; the first: {errors[0]}"


class RewardAlerts:
    """Reports each kind of reward error once."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def check(self, batch: Batch) -> list[AlertData]:
        """Alerts for each kind of error that this batch is the first to show."""
        trajectories = [t for group in batch.groups for t in group.trajectories]
        excluded = [t.verdict.error for t in trajectories if t.verdict.error is not None]
        forgiven = [error for t in trajectories for error in t.verdict.forgiven]
        shadows = [f"{ref}: {error}" for t in trajectories for ref, error in t.verdict.shadow_errors.items()]
        return [
            *self._fresh(excluded, "excluded from the loss", "reward_error"),
            *self._fresh(forgiven, "counted as 0", "reward_error"),
            *self._fresh(shadows, "of a shadow, without effect on training"),
        ]

    def _fresh(self, errors: list[str], effect: str, code: str | None = None) -> list[AlertData]:
        found = []
        for error, count in grouped(errors):
            key = f"{effect}: {kind(error)}"
            if key not in self._told:
                self._told.add(key)
                message = f"{count} of this step, {effect}: {error}"
                found.append(
                    AlertData(level="warn", title="A reward could not be computed", message=message, code=code)
                )
        return found


def starved_alert(step: int, refills: int) -> AlertData:
    """Alert that dynamic sampling found too few groups with a signal."""
    return AlertData(
        level="warn",
        title="The data cannot fill the batch",
        code="starved",
        message=f"Step {step} replaced {refills} times its batch and still found groups of equal rewards. They fill the"
        " rest of the batch. The data is too easy or too hard for the policy.",
    )


def stage_alert(begun: StageBegun, spec: RunSpec) -> AlertData:
    """Alert that a data stage begins, with what it draws and what the previous gate measured."""
    stage = spec.data.stages[begun.number - 1]
    weights = [f"{source.name} {source.weight:g}" for source in stage.sources or spec.data.sources]
    band = "" if stage.band is None else f", of pass rates {stage.band.min_pass_rate:g} to {stage.band.max_pass_rate:g}"
    drawn = f"Stage {begun.number} of {len(spec.data.stages)} samples by the weights {', '.join(weights)}{band}."
    return AlertData(
        level="info",
        title=f"Stage {begun.name} begins",
        message=f"{begun.why} {drawn}".strip(),
        metric=begun.measure,
        value=begun.value,
    )
