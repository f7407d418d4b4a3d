"""Fits the constants of ``ClusterAttained`` on the half of the published figures that is used for fitting."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from trainer_core.planning.attained import Attained
from trainer_core.planning.cluster.published.claim import Claim
from trainer_core.planning.cluster.rates import FITTED, ClusterAttained

Change = Callable[[ClusterAttained, float], ClusterAttained]
CONSTANTS: dict[str, tuple[Change, tuple[float, ...]]] = {
    "shares.learner": (
        lambda at, value: replace(at, shares=Attained(value, at.shares.compute, at.shares.bandwidth)),
        (0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7),
    ),
    "half_width": (
        lambda at, value: replace(at, half_width=value),
        (0.0, 500.0, 1000.0, 1500.0, 2000.0, 3000.0, 4000.0, 6000.0, 8000.0),
    ),
    "shares.bandwidth": (
        lambda at, value: replace(at, shares=Attained(at.shares.learner, at.shares.compute, value)),
        (0.4, 0.5, 0.6, 0.7, 0.8),
    ),
    "layer_seconds": (
        lambda at, value: replace(at, layer_seconds=value),
        (20e-6, 40e-6, 60e-6, 80e-6, 100e-6),
    ),
    "turn_seconds": (lambda at, value: replace(at, turn_seconds=value), (2.0, 5.0, 10.0, 20.0, 30.0, 40.0, 60.0)),
    "apply_bandwidth": (
        lambda at, value: replace(at, apply_bandwidth=value * 1e9),
        (60.0, 70.0, 80.0, 90.0, 100.0, 120.0, 140.0),
    ),
    "gather_bandwidth": (lambda at, value: replace(at, gather_bandwidth=value * 1e9), (4.0, 4.3, 4.6, 5.0)),
    "scan_bandwidth": (lambda at, value: replace(at, scan_bandwidth=value * 1e9), (9.5, 10.0, 10.5, 11.0, 11.5)),
}
"""Fitted constants, and the values that are tried. The links' share, the engines' share of peak and ``step_seconds``
are fixed; the time of a layer is bounded by what remains with CUDA graphs."""
ROUNDS = 3


def distance(claims: Sequence[Claim], at: ClusterAttained) -> float:
    """Mean distance between simulated and published figures: the logarithm of the factor between them."""
    return sum(abs(math.log(claim.simulated(at) / claim.published)) for claim in claims) / len(claims)


def fit(claims: Sequence[Claim], begin: ClusterAttained = FITTED) -> ClusterAttained:
    """The constants that fit the fitted half of ``claims`` best, by coordinate descent over a few rounds."""
    half, best = [claim for claim in claims if claim.fitted], begin
    for _ in range(ROUNDS):
        for change, values in CONSTANTS.values():
            best = min((change(best, value) for value in values), key=lambda at: distance(half, at))
    return best
