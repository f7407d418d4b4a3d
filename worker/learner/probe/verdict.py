"""The comparison of what engine and learner say about the same tokens."""

import math
from collections.abc import Sequence

import numpy as np

from worker.learner.probe.errors import ProbeFailed


def judge(
    version: int, scored: Sequence[Sequence[float]], expected: Sequence[Sequence[float]], tolerance: float
) -> float:
    """Compare an engine's log-probabilities with the learner's.

    Args:
        version: the version that was probed.
        scored: the engine's, one list per sequence.
        expected: the learner's, of the same lengths.
        tolerance: largest accepted difference of log-probabilities, in nats.

    Returns:
        The largest absolute difference found.

    Raises:
        ProbeFailed: a difference is above the tolerance or not a number.
    """
    worst, where = 0.0, ""
    for number, (mine, theirs) in enumerate(zip(scored, expected, strict=True)):
        difference = np.abs(np.asarray(mine, dtype=np.float64) - np.asarray(theirs, dtype=np.float64))
        token = int(np.argmax(np.nan_to_num(difference, nan=np.inf)))
        found = float(difference[token])
        if math.isnan(found) or found > worst:
            worst, where = found, f"token {token + 1} of probe {number}"
        if math.isnan(worst):
            break
    if not worst <= tolerance:
        raise ProbeFailed(version, worst, tolerance, where)
    return worst
