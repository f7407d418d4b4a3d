"""Attributes the engine/learner difference to its causes.

For a sampled token, with natural logs throughout,

    total      d = log π_behaviour(token) − log π_learner(token)              recorded
    template   t = log π_learner(token | recorded context) − log π_learner(token | the learner's own context)
    truncation s = −log(mass of the tokens that top-k and top-p keep) ≥ 0      the engine renormalises over them
    numerics   n = log π_engine(token) − log π_learner(token)                  both at the same frozen weights
    staleness  r = d − t − s − n                                               change by the weight updates in between

so the four causes add up to the total, token by token. If engine and learner hold the version that sampled the token, r
cannot be staleness. It is then reported as unexplained, and a large value means that one of the parts is not what it
seems.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trainer_core.episodes import Trajectory


@dataclass(frozen=True, slots=True)
class RescoredTokens:
    """One trajectory, scored again by engine and learner at the same weights. Arrays of shape [T] as its tokens."""

    engine: NDArray[np.float64]
    """Log-probability in the engine, over the full vocabulary."""
    learner: NDArray[np.float64]
    """Log-probability in the learner, at the same temperature as ``engine``."""
    log_kept: NDArray[np.float64]
    """Natural log of the probability mass that top-k and top-p keep; 0 without truncation."""
    template: NDArray[np.float64]
    """Effect of the learner's own rendering of the prompt: its log-probability after the recorded context minus that
    after its own; 0 where both are the same tokens."""


@dataclass(frozen=True, slots=True)
class Cause:
    """One cause's contribution to the difference."""

    mean: float
    """Nats per token, signed: the means of all causes add up to that of the total."""
    mean_abs: float
    """Nats per token."""
    share: float
    """Share of the sum of all causes' ``mean_abs``; 0 if nothing differs."""


@dataclass(frozen=True, slots=True)
class Attribution:
    """The difference over all sampled tokens, by cause."""

    tokens: int
    fresh_tokens: int
    """Number of tokens sampled by exactly the weights that the learner holds."""
    total_mean: float
    """Nats per token: ``rollout_corr/kl`` of the same tokens."""
    numerics: Cause
    staleness: Cause
    truncation: Cause
    template: Cause
    unexplained: Cause
    """Remainder of fresh tokens, which no other cause explains."""


def attribute(
    trajectories: Sequence[Trajectory], rescored: Mapping[str, RescoredTokens], version: int
) -> Attribution | None:
    """Attribute the difference to its causes.

    Args:
        trajectories: with ``learner_logprobs`` of weights ``version``.
        rescored: by ``trajectory_id``, from a rescoring at weights ``version``; trajectories without one are ignored.
        version: version of the weights of the learner and of the rescoring.

    Returns:
        None if no sampled token was both learned and rescored.
    """
    rows: list[NDArray[np.float64]] = []
    fresh: list[NDArray[np.bool_]] = []
    for trajectory in trajectories:
        side, scored = rescored.get(trajectory.trajectory_id), trajectory.learner_logprobs
        if side is None or scored is None:
            continue
        sampled = trajectory.sampled
        total = trajectory.behaviour_logprobs.astype(np.float64) - scored
        parts = np.stack([total, side.engine - side.learner, -side.log_kept, side.template])
        rows.append(parts[:, sampled])
        fresh.append(trajectory.versions[sampled] == version)
    if not rows or not sum(part.shape[1] for part in rows):
        return None
    total, numerics, truncation, template = np.concatenate(rows, axis=1)
    new = np.concatenate(fresh)
    rest = total - numerics - truncation - template
    causes = {
        "numerics": numerics,
        "staleness": np.where(new, 0.0, rest),
        "truncation": truncation,
        "template": template,
        "unexplained": np.where(new, rest, 0.0),
    }
    size = sum(float(np.abs(values).mean()) for values in causes.values())
    return Attribution(
        tokens=len(total),
        fresh_tokens=int(new.sum()),
        total_mean=float(total.mean()),
        **{name: _cause(values, size) for name, values in causes.items()},
    )


def _cause(values: NDArray[np.float64], size: float) -> Cause:
    mean_abs = float(np.abs(values).mean())
    return Cause(float(values.mean()), mean_abs, mean_abs / size if size > 0 else 0.0)
