"""What is told to the platform, as JSON-able data: metrics and sampled rollouts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from trainer_core.trajectory import Group, Trajectory
from worker.buffer import Batch

GROUPS_SHOWN = 4
"""Groups per step whose completions travel to the console."""
MAX_TEXT = 20_000
"""Characters of a prompt or completion that travel."""


def finite(metrics: Mapping[str, float]) -> dict[str, float | str]:
    """Metrics with NaN and infinities as strings: JSON has no word for them, and none may be lost."""
    return {name: _number(float(value)) for name, value in metrics.items()}


def rollout_rows(batch: Batch, count: int = GROUPS_SHOWN) -> list[dict[str, Any]]:
    """The completions of ``count`` groups, spread evenly over the batch."""
    stride = max(1, len(batch.groups) // count)
    return [
        _row(group, sample, trajectory, batch.revision)
        for group in batch.groups[::stride][:count]
        for sample, trajectory in enumerate(group.trajectories)
    ]


def _row(group: Group, sample: int, trajectory: Trajectory, revision: int) -> dict[str, Any]:
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
        "advantage": trajectory.advantage,
        "excluded": trajectory.excluded,
        "finish_reason": trajectory.finish_reason,
        "length": trajectory.length,
        "thinking_tokens": trajectory.thinking_tokens,
        "budget_hit": trajectory.budget_hit,
        "control_revision": revision,
        "policy_versions": [int(versions.min()), int(versions.max())] if len(versions) else [],
    }


def _number(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
