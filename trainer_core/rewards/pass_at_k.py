"""Pass@k of an evaluation: the unbiased estimate of each prompt, their mean, and its interval."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, variance

from trainer_core.episodes import Group
from trainer_core.rewards.outcomes import succeeded

Z = 1.959963984540054
"""Quantile of the normal distribution that leaves 2.5 % above it: intervals hold the truth 19 times out of 20."""


@dataclass(frozen=True, slots=True)
class PassAtK:
    """Pass@k of a source: the probability that one of k samples of a prompt is right, over its prompts."""

    mean: float
    low: float
    high: float
    """Ends of the 95 % interval."""


def estimate(samples: int, right: int, k: int) -> float:
    """``1 − C(n − c, k) / C(n, k)``, unbiased (Chen et al., arXiv 2107.03374, eq. 1).

    Args:
        samples: n, at least k.
        right: c, how many of them are right.
        k: how many tries there are.

    Raises:
        ValueError: there are fewer samples than tries, or more right ones than samples.
    """
    if not 1 <= k <= samples or not 0 <= right <= samples:
        raise ValueError(f"pass@{k} cannot be estimated from {right} right ones among {samples} samples")
    return 1.0 - math.comb(samples - right, k) / math.comb(samples, k)


def pass_at_k(groups: Sequence[Group], k: int) -> PassAtK | None:
    """Pass@k over the prompts of ``groups``, of which those with fewer than k scored samples do not count.

    The interval is Wilson's (1927) for the effective number of trials ``m(1 − m) / (s²/P)`` (Korn and Graubard 1998),
    with the mean m and the sample variance s² of the P prompts' estimates: it covers prompts that were not drawn, stays
    within [0, 1], and does not shrink to a point where all prompts agree. There are never more trials than samples.

    Returns:
        None where no prompt has k scored samples.
    """
    verdicts = [[succeeded(t, group.success_threshold) for t in group.trajectories] for group in groups]
    known = [[one for one in of if one is not None] for of in verdicts]
    counted = [of for of in known if len(of) >= k]
    if not counted:
        return None
    estimates = [estimate(len(of), sum(of), k) for of in counted]
    mean = fmean(estimates)
    samples = sum(len(of) for of in counted) / k
    error = variance(estimates) / len(estimates) if len(estimates) > 1 else 0.0
    trials = mean * (1 - mean) / error if error > 0.0 else float(len(estimates))
    low, high = wilson(mean, min(trials, samples))
    return PassAtK(mean, low, high)


def wilson(share: float, trials: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share over a number of trials, which need not be whole but is above 0."""
    square = Z * Z / trials
    centre = (share + square / 2) / (1 + square)
    width = Z * math.sqrt(share * (1 - share) / trials + square / (4 * trials)) / (1 + square)
    return max(0.0, centre - width), min(1.0, centre + width)
