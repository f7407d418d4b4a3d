"""Age of the weights that sampled a batch: ``staleness/*``."""

from collections.abc import Sequence

import numpy as np

from trainer_core.episodes import Group


def staleness_metrics(groups: Sequence[Group], version: int) -> dict[str, float]:
    """Mean, maximum and histogram of (``version`` − the version that sampled a token). Empty if no token was sampled.

    Args:
        groups: the batch.
        version: version of the learner's weights before the update.
    """
    versions = [t.versions[t.sampled] for group in groups for t in group.trajectories if t.sampled.any()]
    if not versions:
        return {}
    ages = version - np.concatenate(versions).astype(np.int64)
    values, counts = np.unique(ages, return_counts=True)
    shares = {f"staleness/share/{age}": float(count / len(ages)) for age, count in zip(values, counts, strict=True)}
    return {"staleness/mean": float(ages.mean()), "staleness/max": float(ages.max()), **shares}
