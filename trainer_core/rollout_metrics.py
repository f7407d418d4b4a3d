"""Mismatch between the policies that sampled tokens and the learner's, and their age. Formulas: ``metrics.py``."""

from collections.abc import Iterable

import numpy as np

from trainer_core.trajectory import Trajectory


def mismatch_metrics(trajectories: Iterable[Trajectory], version: int) -> dict[str, float]:
    """``rollout_corr/*`` and ``staleness/*`` over the sampled tokens of ``trajectories``.

    Weights are raw, never truncated: truncation would hide a degenerate sample size. Trajectories that the learner has
    not scored take no part; if none is left the result is empty.

    Args:
        trajectories: with ``learner_logprobs``.
        version: the weights that the learner held before the update.
    """
    scored = [t for t in trajectories if t.learner_logprobs is not None and t.sampled.any()]
    if not scored:
        return {}
    behaviour = np.concatenate([t.behaviour_logprobs[t.sampled] for t in scored]).astype(np.float64)
    learner = np.concatenate([t.learner_logprobs[t.sampled] for t in scored if t.learner_logprobs is not None])
    age = version - np.concatenate([t.versions[t.sampled] for t in scored])
    difference = learner.astype(np.float64) - behaviour
    weights = np.exp(np.clip(difference, -20.0, 20.0))
    return {
        "rollout_corr/kl": float(-difference.mean()),
        "rollout_corr/k3_kl": float((weights - 1 - np.clip(difference, -20.0, 20.0)).mean()),
        "rollout_corr/log_ppl_abs_diff": float(
            np.mean([abs(float((t.learner_logprobs - t.behaviour_logprobs)[t.sampled].mean())) for t in scored])  # type: ignore[operator]
        ),
        "rollout_corr/max_abs_logp_diff": float(np.abs(difference).max()),
        "rollout_corr/rollout_is_mean": float(weights.mean()),
        "rollout_corr/rollout_is_max": float(weights.max()),
        "rollout_corr/rollout_is_eff_sample_size": float(weights.mean() ** 2 / np.square(weights).mean()),
        "staleness/mean": float(age.mean()),
        "staleness/max": float(age.max()),
    }
