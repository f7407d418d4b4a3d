"""Dead groups: groups whose samples are all right or all wrong, so nothing is learned from them."""

import math

from trainer_core.profiling.beta import log_beta
from trainer_core.profiling.prior import BetaPrior
from trainer_core.profiling.tally import States


def dead_chance(samples: int, correct: int, prior: BetaPrior, group_size: int) -> float:
    """Probability that a group of a row is dead: E[p^G + (1 − p)^G] = (B(a + G, b) + B(a, b + G)) / B(a, b).

    Args:
        samples: graded samples of the row.
        correct: right samples.
        prior: distribution of pass rates; with the counts it gives the posterior Beta(a, b).
        group_size: G, at least 1.
    """
    a, b = prior.a + correct, prior.b + samples - correct
    whole = log_beta(a, b)
    found = math.exp(log_beta(a + group_size, b) - whole) + math.exp(log_beta(a, b + group_size) - whole)
    return min(1.0, found)


def dead_share(states: States, prior: BetaPrior, group_size: int) -> float:
    """Expected share of dead groups if all rows are drawn equally often. Raises ValueError if no row was sampled."""
    rows = sum(states.values())
    if not rows:
        raise ValueError("no row was sampled")
    return (
        sum(count * dead_chance(samples, correct, prior, group_size) for (samples, correct), count in states.items())
        / rows
    )
