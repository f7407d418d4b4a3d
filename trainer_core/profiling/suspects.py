"""Suspects: rows whose sampled answers agree with each other but contradict the gold.

Two hypotheses compete for each row. If the gold is right, right answers occur at the row's pass rate, and wrong ones
agree as often as wrong answers usually do. If the gold is wrong, the leading answer is the true one and occurs at the
pass rate, and the gold is the result of a slip. Both rates are drawn from distributions fitted to the version: pass
rates to all rows, agreement of slips to rows whose gold most samples confirm. So a weak policy, which is seldom right,
accuses few rows, and a policy whose slips often agree accuses even fewer.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from trainer_core.profiling.beta import log_beta_binomial
from trainer_core.profiling.prior import BetaPrior, fit_prior
from trainer_core.profiling.tally import RowTally

LEAST_VOTES = 3
"""Fewest votes for which a gold is accused."""
WRONG_GOLDS = 0.05
"""Expected share of wrong golds a priori."""
FALSE_ALARMS = 0.05
"""Expected share of right golds among the suspects."""
SLIPS = BetaPrior(0.6, 2.4)
"""Agreement of wrong answers if the version does not show it."""
_SLIP_WEIGHT = 3.0
"""Spread of that agreement over rows, fixed because rows with few slips determine the mean but not the spread."""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """The leading wrong answer of a row, and the evidence for it."""

    row: int
    answer: str
    votes: int
    agreement: float
    """Share of the graded samples that gave it."""
    chance: float
    """Probability that it is right and the gold is wrong."""
    is_suspect: bool = False


def suspicions(tallies: Sequence[RowTally], prior: BetaPrior) -> list[Suspicion]:
    """Suspicions about the golds of rows that have a wrong answer, by row number.

    Suspects are the rows with the largest chances, as many as keep the expected share of right golds among them at 5 %.

    Args:
        tallies: one for each row.
        prior: distribution of pass rates, fitted to the tallies.
    """
    slips = _agreement_of_slips(tallies)
    found = []
    for row, tally in enumerate(tallies):
        leading = tally.leading
        if leading is not None and tally.samples:
            chance = _chance(tally, leading.votes, prior, slips)
            found.append(Suspicion(row, leading.text, leading.votes, leading.votes / tally.samples, chance))
    likeliest = sorted((one for one in found if one.votes >= LEAST_VOTES), key=lambda one: -one.chance)
    alarms = accumulate(1.0 - one.chance for one in likeliest)
    listed = sum(false <= FALSE_ALARMS * count for count, false in enumerate(alarms, 1))
    suspects = {one.row for one in likeliest[:listed]}
    return [replace(one, is_suspect=one.row in suspects) for one in found]


def _chance(tally: RowTally, votes: int, prior: BetaPrior, slips: BetaPrior) -> float:
    right = math.log1p(-WRONG_GOLDS) + _story(tally.samples, tally.correct, votes, prior, slips)
    wrong = math.log(WRONG_GOLDS) + _story(tally.samples, votes, tally.correct, prior, slips)
    difference = right - wrong
    return 1.0 / (1.0 + math.exp(difference)) if difference < 700 else 0.0


def _story(samples: int, true: int, slip: int, prior: BetaPrior, slips: BetaPrior) -> float:
    """Log-likelihood that ``true`` samples are right and ``slip`` of the others agree."""
    passes = log_beta_binomial(true, samples, prior.a, prior.b)
    return passes + log_beta_binomial(slip, samples - true, slips.a, slips.b)


def _agreement_of_slips(tallies: Sequence[RowTally]) -> BetaPrior:
    states: Counter[tuple[int, int]] = Counter()
    for tally in tallies:
        slipped = tally.samples - tally.correct
        if slipped > 1 and 2 * tally.correct >= tally.samples:
            leading = 0 if tally.leading is None else tally.leading.votes
            states[slipped, leading if leading > 1 else 0] += 1  # a single answer agrees with none
    return fit_prior(states, SLIPS, (_SLIP_WEIGHT,))
