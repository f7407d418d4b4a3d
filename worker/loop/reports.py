"""Reports to the platform, as JSON-able data: metrics and sampled rollouts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from trainer_core.diagnosis import worst_tokens
from trainer_core.steering.guards import Alert
from trainer_core.trajectory import Group, Trajectory

GROUPS_SHOWN = 4
"""Groups per step whose completions travel to the console."""
MAX_TEXT = 20_000
"""Characters of a prompt or completion that travel."""


def finite(metrics: Mapping[str, float]) -> dict[str, float | str]:
    """Metrics with NaN and infinities as strings: JSON has no word for them, and none may be lost."""
    return {name: _number(float(value)) for name, value in metrics.items()}


def metric_alert(title: str, alert: Alert) -> dict[str, Any]:
    """Alert that a metric gives cause for."""
    value = _number(alert.value)
    return {"level": "warn", "title": title, "message": alert.message, "metric": alert.metric, "value": value}


def shown_groups(groups: Sequence[Group], count: int = GROUPS_SHOWN) -> Sequence[Group]:
    """``count`` groups, spread evenly over the batch."""
    return groups[:: max(1, len(groups) // count)][:count]


def rollout_rows(groups: Sequence[Group]) -> list[dict[str, Any]]:
    """All completions of ``groups``, one row each."""
    return [_row(group, sample, t) for group in groups for sample, t in enumerate(group.trajectories)]


def worst_rows(groups: Sequence[Group], text: Callable[[int], str]) -> list[dict[str, Any]]:
    """The tokens on which engine and learner disagree most; ``text`` says what a token id stands for."""
    rows = []
    for token in worst_tokens(groups):
        probabilities = {name: _number(token[name]) for name in ("behaviour_logprob", "learner_logprob")}
        rows.append({**token, **probabilities, "text": text(token["token_id"])})
    return rows


def _row(group: Group, sample: int, trajectory: Trajectory) -> dict[str, Any]:
    versions = trajectory.versions
    return {
        "group_id": group.group_id,
        "sample": sample,
        "prompt_id": group.prompt_id,
        "source": group.source,
        "prompt": group.prompt_text[:MAX_TEXT],
        "completion": trajectory.output_text[:MAX_TEXT],
        "answer": group.item.get("answer"),
        "reward": trajectory.reward,
        "reward_parts": finite(trajectory.reward_parts),
        "reward_error": trajectory.reward_error,
        "reward_version": group.reward_ref,
        "shadow": {**trajectory.shadow_rewards, **dict.fromkeys(trajectory.shadow_errors)},
        "advantage": trajectory.advantage,
        "excluded": trajectory.excluded,
        "finish_reason": trajectory.finish_reason,
        "length": trajectory.length,
        "thinking_tokens": trajectory.thinking_tokens,
        "budget_hit": trajectory.budget_hit,
        "control_revision": group.steering_revision,
        "policy_versions": [int(versions.min()), int(versions.max())] if len(versions) else [],
    }


def _number(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
