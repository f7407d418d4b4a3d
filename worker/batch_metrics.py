"""Metrics of a batch that need no model: rewards, lengths, thinking, mixture. Names as in ``trainer_core.metrics``."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import numpy as np
from numpy.typing import NDArray

from trainer_core.spec.thinking import TaggedThinking
from trainer_core.trajectory import Group, Trajectory
from worker.buffer import Batch


def batch_metrics(batch: Batch, success_threshold: float) -> dict[str, float]:
    """All metrics of ``batch`` after rewards, advantages and filters."""
    trajectories = [t for group in batch.groups for t in group.trajectories]
    lengths = np.array([t.length for t in trajectories], np.float64)
    metrics = {
        "groups/count": float(len(batch.groups)),
        "groups/zero_advantage_share": _share([_has_no_signal(group) for group in batch.groups]),
        "reward/error_share": error_share(batch.groups),
        "prompt_length/mean": float(np.mean([len(prompt) for prompt in batch.prompts])),
        "response_length/clip_ratio": _share([t.finish_reason == "length" for t in trajectories]),
        "control/revision": float(batch.revision),
    }
    rewards = [t.reward for t in trajectories if t.reward is not None]
    if rewards:
        metrics |= _summary("critic/score", np.array(rewards), with_std=True)
    metrics |= _summary("response_length", lengths)
    metrics["response_length/p50"], metrics["response_length/p95"] = np.percentile(lengths, (50, 95)).tolist()
    metrics |= _reward_parts(trajectories) | _sources(batch.groups, success_threshold)
    thinking = batch.spec.thinking
    if isinstance(thinking, TaggedThinking):
        metrics |= _thinking(trajectories, thinking.budget)
    return metrics


def error_share(groups: list[Group]) -> float:
    """Share of trajectories whose reward could not be computed."""
    return _share([t.reward_error is not None for group in groups for t in group.trajectories])


def succeeded(trajectory: Trajectory, threshold: float) -> bool | None:
    """Whether the answer counts as right; overlong shaping is no part of it. None when the reward failed."""
    if trajectory.reward is None or trajectory.reward_error is not None:
        return None
    return trajectory.reward - trajectory.reward_parts.get("overlong", 0.0) >= threshold


def pass_rate(groups: list[Group], threshold: float) -> float:
    """Share of right answers among those whose reward could be computed; NaN for none."""
    known = [ok for group in groups for t in group.trajectories if (ok := succeeded(t, threshold)) is not None]
    return _share(known) if known else math.nan


def _summary(name: str, values: NDArray[np.float64], with_std: bool = False) -> dict[str, float]:
    found = {f"{name}/mean": values.mean(), f"{name}/min": values.min(), f"{name}/max": values.max()}
    if with_std:
        found[f"{name}/std"] = values.std()
    return {key: float(value) for key, value in found.items()}


def _reward_parts(trajectories: list[Trajectory]) -> dict[str, float]:
    parts: defaultdict[str, list[float]] = defaultdict(list)
    for trajectory in trajectories:
        for name, value in trajectory.reward_parts.items():
            parts[name].append(value)
    return {f"reward_parts/{name}/mean": float(np.mean(values)) for name, values in parts.items()}


def _sources(groups: list[Group], threshold: float) -> dict[str, float]:
    counts = Counter(group.source for group in groups)
    metrics = {f"train/mix/{source}": count / len(groups) for source, count in counts.items()}
    for source in counts:
        rate = pass_rate([group for group in groups if group.source == source], threshold)
        if not math.isnan(rate):
            metrics[f"train/pass_rate/{source}"] = rate
    return metrics


def _thinking(trajectories: list[Trajectory], budget: int | None) -> dict[str, float]:
    tokens = [t.thinking_tokens for t in trajectories]
    metrics = {
        "thinking/mean": float(np.mean(tokens)),
        "thinking/max": float(max(tokens)),
        "thinking/share_thinking": _share([count > 0 for count in tokens]),
        "thinking/budget_hit_share": _share([t.budget_hit for t in trajectories]),
    }
    return metrics if budget is None else {**metrics, "thinking/budget": float(budget)}


def _has_no_signal(group: Group) -> bool:
    rewards = {t.reward for t in group.trajectories if t.reward is not None}
    return len(rewards) <= 1


def _share(flags: list[bool]) -> float:
    return sum(flags) / len(flags) if flags else 0.0
