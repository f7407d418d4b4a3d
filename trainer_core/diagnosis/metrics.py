"""``rollout_corr/*`` and ``staleness/*``: how far the learner is from the policy that sampled. Formulas: the registry.

Importance weights are raw, never truncated: truncation would hide a degenerate sample size.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from trainer_core.diagnosis.columns import Columns, columns
from trainer_core.episodes import Trajectory

RATIO_HIGH, RATIO_LOW = 2.0, 0.5
"""Weights outside these bounds count as high and low."""
_MOST = 20.0
"""Log-ratios are clipped here before ``exp``: e²⁰ is beyond any useful value, and sums stay finite."""


def mismatch_metrics(trajectories: Iterable[Trajectory], version: int) -> dict[str, float]:
    """All mismatch metrics over the sampled tokens of ``trajectories``.

    Trajectories that the learner has not scored are ignored; if none is left, the result is empty.

    Args:
        trajectories: with ``learner_logprobs``.
        version: version of the learner's weights before the update.
    """
    table = columns(trajectories)
    if table is None:
        return {}
    log_ratio = table.log_ratio
    return {
        "rollout_corr/kl": float(-log_ratio.mean()),
        "rollout_corr/k3_kl": float(_k3(log_ratio).mean()),
        "rollout_corr/max_abs_logp_diff": float(np.abs(log_ratio).max()),
        **_perplexities(table),
        **_weights("rollout_corr/rollout_is", log_ratio),
        **_weights("rollout_corr/rollout_is_seq", table.sums(log_ratio)),
        "rollout_corr/chi2_token": _chi2(log_ratio),
        "rollout_corr/chi2_seq": _chi2(table.sums(log_ratio)),
        **_by_age(table, log_ratio, version),
    }


def _k3(log_ratio: NDArray[np.float64]) -> NDArray[np.float64]:
    """w − 1 − log w, never negative."""
    bounded = np.minimum(log_ratio, _MOST)
    return np.expm1(bounded) - bounded


def _perplexities(table: Columns) -> dict[str, float]:
    """Per trajectory: perplexity under the learner, and how its logarithm differs from the engine's.

    ``rollout_corr/rollout_ppl`` comes from the engine alone and is known before the learner scores: see
    ``step_metrics``.
    """
    counts = table.counts
    learner, behaviour = -table.sums(table.learner) / counts, -table.sums(table.behaviour) / counts
    # Positive where the learner finds the completion less likely than the engine did.
    difference = learner - behaviour
    return {
        "rollout_corr/training_ppl": float(np.exp(np.minimum(learner, 700.0)).mean()),
        "rollout_corr/ppl_ratio": float(np.exp(np.minimum(difference, 700.0)).mean()),
        "rollout_corr/log_ppl_diff": float(difference.mean()),
        "rollout_corr/log_ppl_abs_diff": float(np.abs(difference).mean()),
        "rollout_corr/log_ppl_diff_max": float(difference.max()),
        "rollout_corr/log_ppl_diff_min": float(difference.min()),
    }


def _weights(name: str, log_weights: NDArray[np.float64]) -> dict[str, float]:
    weights = np.exp(np.minimum(log_weights, _MOST))
    return {
        f"{name}_mean": float(weights.mean()),
        f"{name}_std": float(weights.std()),
        f"{name}_max": float(weights.max()),
        f"{name}_min": float(weights.min()),
        f"{name}_ratio_fraction_high": float((weights > RATIO_HIGH).mean()),
        f"{name}_ratio_fraction_low": float((weights < RATIO_LOW).mean()),
        f"{name}_eff_sample_size": _effective_share(log_weights),
    }


def _effective_share(log_weights: NDArray[np.float64]) -> float:
    """(Σw)² / (n Σw²), computed in logarithms: safe for any weights, as it does not depend on their scale."""
    weights = np.exp(log_weights - log_weights.max())
    return float(weights.sum() ** 2 / (len(weights) * np.square(weights).sum()))


def _chi2(log_weights: NDArray[np.float64]) -> float:
    """E[w²] − 1, the χ² divergence of the learner from the behaviour policy."""
    return float(np.exp(2.0 * np.minimum(log_weights, _MOST)).mean() - 1.0)


def _by_age(table: Columns, log_ratio: NDArray[np.float64], version: int) -> dict[str, float]:
    """Tokens of the learner's own version differ by numerics (and truncated sampling); older ones also by learning."""
    age = version - table.versions
    fresh = age == 0
    found = {
        "rollout_corr/stale_token_share": float(1.0 - fresh.mean()),
        "staleness/mean": float(age.mean()),
        "staleness/max": float(age.max()),
    }
    for name, part in (("numerics", log_ratio[fresh]), ("staleness", log_ratio[~fresh])):
        if len(part):
            found[f"rollout_corr/{name}_kl"] = float(-part.mean())
            found[f"rollout_corr/{name}_k3_kl"] = float(_k3(part).mean())
    return found
