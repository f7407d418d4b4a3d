"""Metrics of a step that need no model: rewards, lengths, mixture, mismatch, age. Formulas: ``metrics.py``."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trainer_core.diagnosis.metrics import mismatch_metrics
from trainer_core.episodes import Group, Trajectory
from trainer_core.prompting.plan import thinking_budget
from trainer_core.rewards.outcomes import error_share, pass_rate
from trainer_core.spec.generation.thinking import TaggedThinking
from trainer_core.spec.run import RunSpec

__all__ = ["mismatch_metrics", "step_metrics"]


def step_metrics(groups: Sequence[Group], spec: RunSpec, *, version: int) -> dict[str, float]:
    """Every metric of a step's groups, after rewards, filters and update.

    An unknown quantity is left out, never reported as 0.

    Args:
        groups: all groups of the step, with at least one trajectory.
        spec: the spec at their dispatch.
        version: version of the learner's weights before the update.
    """
    trajectories = [t for group in groups for t in group.trajectories]
    rewards = np.array([t.reward for t in trajectories if t.verdict.error is None and t.reward is not None])
    lengths = np.array([t.length for t in trajectories], np.float64)
    metrics = {
        "groups/count": float(len(groups)),
        "groups/zero_advantage_share": _share([_has_no_signal(group) for group in groups]),
        "control/revision": float(max(group.steering_revision for group in groups)),
        "reward/error_share": error_share(groups),
        "reward/forgiven_share": _share([bool(t.verdict.forgiven) for t in trajectories]),
        "prompt_length/mean": float(np.mean([len(t.prompt_ids) for t in trajectories])),
        "response_length/clip_ratio": _share([t.finish_reason == "length" for t in trajectories]),
        "rollouts/repetition_share": _share([t.finish_reason == "repetition" for t in trajectories]),
        "rollouts/pruned_share": _share([t.finish_reason == "pruned" for t in trajectories]),
        "response_length/p50": float(np.percentile(lengths, 50)),
        "response_length/p95": float(np.percentile(lengths, 95)),
        "response_length/p99": float(np.percentile(lengths, 99)),
        "response_length/window": float(spec.rollout.max_tokens),
        **_range("response_length", lengths),
    }
    if len(rewards):
        metrics |= {**_range("critic/score", rewards), "critic/score/std": float(rewards.std())}
    metrics |= _reward_parts(trajectories) | _sources(groups)
    if isinstance(spec.thinking, TaggedThinking):
        budgets = [thinking_budget(spec, group.item, group.group_id) for group in groups]
        metrics |= _thinking(trajectories, [budget for budget in budgets if budget is not None])
    return metrics | _perplexity(trajectories) | mismatch_metrics(trajectories, version)


def _perplexity(trajectories: Sequence[Trajectory]) -> dict[str, float]:
    sampled = [t.behaviour_logprobs[t.sampled].astype(np.float64) for t in trajectories]
    known = [math.exp(min(-float(part.mean()), 700.0)) for part in sampled if len(part)]
    return {"rollout_corr/rollout_ppl": float(np.mean(known))} if known else {}


def _range(name: str, values: NDArray[np.float64]) -> dict[str, float]:
    return {
        f"{name}/mean": float(values.mean()),
        f"{name}/min": float(values.min()),
        f"{name}/max": float(values.max()),
    }


def _reward_parts(trajectories: Sequence[Trajectory]) -> dict[str, float]:
    parts: defaultdict[str, list[float]] = defaultdict(list)
    for trajectory in trajectories:
        for name, value in trajectory.verdict.parts.items():
            parts[name].append(value)
    return {f"reward_parts/{name}/mean": float(np.mean(values)) for name, values in parts.items()}


def _sources(groups: Sequence[Group]) -> dict[str, float]:
    counts = Counter(group.source for group in groups)
    metrics = {f"train/mix/{source}": count / len(groups) for source, count in counts.items()}
    for source in counts:
        rate = pass_rate([group for group in groups if group.source == source])
        if not math.isnan(rate):
            metrics[f"train/pass_rate/{source}"] = rate
    return metrics


def _thinking(trajectories: Sequence[Trajectory], budgets: Sequence[int]) -> dict[str, float]:
    tokens = np.array([t.thinking_tokens for t in trajectories], np.float64)
    metrics = {
        "thinking/mean": float(tokens.mean()),
        "thinking/max": float(tokens.max()),
        "thinking/share_thinking": float((tokens > 0).mean()),
        "thinking/budget_hit_share": _share([t.budget_hit for t in trajectories]),
    }
    return {**metrics, "thinking/budget": float(np.mean(budgets))} if budgets else metrics


def _has_no_signal(group: Group) -> bool:
    return len({t.reward for t in group.trajectories if t.reward is not None}) <= 1


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else 0.0
