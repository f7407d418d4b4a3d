"""Shadow rewards beside the trained one: do they mean the same?"""

from collections.abc import Mapping, Sequence

import numpy as np

from trainer_core.episodes import Group, Trajectory
from trainer_core.rewards.outcomes import graded_reward, succeeded
from trainer_core.rewards.success import least


def shadow_metrics(groups: Sequence[Group], thresholds: Mapping[str, float]) -> dict[str, float]:
    """Metrics of each shadow version in ``groups``: mean, errors, and how it agrees with the reward that is trained on.

    ``agreement`` is the share of trajectories that both call right, or both wrong, each by its own threshold;
    ``correlation`` is Pearson's, of the rewards as the definitions give them. Both are taken over the trajectories that
    both versions could score, and left out where there is nothing to say: no such trajectory, or rewards all equal.

    Args:
        groups: the batch, scored; a group may have shadows of its own.
        thresholds: reward from which a sample succeeds, by reference.
    """
    metrics: dict[str, float] = {}
    pairs = [(group, t) for group in groups for t in group.trajectories]
    for ref in sorted({name for _, t in pairs for name in (*t.verdict.shadow_rewards, *t.verdict.shadow_errors)}):
        rewards = [t.verdict.shadow_rewards[ref] for _, t in pairs if ref in t.verdict.shadow_rewards]
        metrics[f"reward_shadow/{ref}/errors"] = float(sum(ref in t.verdict.shadow_errors for _, t in pairs))
        if rewards:
            metrics[f"reward_shadow/{ref}/mean"] = float(np.mean(rewards))
        metrics |= _compared(ref, [(g, t) for g, t in pairs if ref in t.verdict.shadow_rewards], thresholds[ref])
    return metrics


def _compared(ref: str, pairs: Sequence[tuple[Group, Trajectory]], threshold: float) -> dict[str, float]:
    known = [(t, right) for g, t in pairs if (right := succeeded(t, g.success_threshold)) is not None]
    if not known:
        return {}
    shadow = np.array([t.verdict.shadow_rewards[ref] for t, _ in known], np.float64)
    trained = np.array([graded_reward(t) for t, _ in known], np.float64)
    agreed = (shadow >= least(threshold)) == np.array([right for _, right in known])
    metrics = {f"reward_shadow/{ref}/agreement": float(agreed.mean())}
    a, b = shadow - shadow.mean(), trained - trained.mean()
    size = float(np.sqrt(a @ a) * np.sqrt(b @ b))
    # Equal rewards differ from their own mean by rounding alone.
    if size > 0.0 and np.ptp(shadow) > 0.0 and np.ptp(trained) > 0.0:
        metrics[f"reward_shadow/{ref}/correlation"] = min(1.0, max(-1.0, float(a @ b) / size))
    return metrics
