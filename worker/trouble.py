"""What a person should hear of: rewards that fail, data without signal."""

from __future__ import annotations

from typing import Any

from trainer_core.rollout_metrics import error_share
from worker.buffer import Batch


def reward_trouble(batch: Batch) -> str | None:
    """Why the run must not go on with these rewards, or None."""
    share, reward = error_share(batch.groups), batch.spec.reward
    if share == 0.0 or (share <= reward.max_error_share and reward.on_error != "stop"):
        return None
    errors = [t.reward_error for group in batch.groups for t in group.trajectories if t.reward_error is not None]
    return f"{len(errors)} rewards of step {batch.step} ({share:.0%}) could not be computed; the first: {errors[0]}"


def starved_alert(step: int, refills: int) -> dict[str, Any]:
    """The alert that dynamic sampling has found too few groups with a signal."""
    return {
        "level": "warn",
        "title": "The data cannot fill the batch",
        "message": f"Step {step} replaced {refills} times its batch and still found groups of equal rewards: they fill "
        "the rest of the batch. The data is too easy or too hard for the policy.",
    }
