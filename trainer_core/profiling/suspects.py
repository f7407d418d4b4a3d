"""Suspects: rows whose sampled answers agree with one another against the gold.

Two stories compete for each row. The gold is right: right answers come at the row's pass rate, and the wrong ones agree
as often as wrong answers do. The gold is wrong: the leading answer is the true one and comes at the pass rate, and the
gold is what a slip gives. Both rates are drawn from distributions that are fitted to the version: pass rates to all
rows, agreement of slips to rows whose gold most samples confirm. So a weak policy, which seldom is right at all,
accuses few rows, and one whose slips are alike accuses fewer.
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
"""Votes below which no gold is accused."""
WRONG_GOLDS = 0.05
"""Share of wrong golds that is expected before anything is known."""
FALSE_ALARMS = 0.05
"""Expected share of right golds among the suspects."""
SLIPS = BetaPrior(0.6, 2.4)
"""Agreement of wrong answers where the version does not tell."""
_SLIP_WEIGHT = 3.0
"""Spread of that agreement over rows: a row with few slips tells its mean, and nothing of its spread."""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """The leading wrong answer of a row, and what speaks for it."""

    row: int
    answer: str
    votes: int
    agreement: float
    """Share of the graded samples that gave it."""
    chance: float
    """Probability that it is right and the gold is wrong."""
    is_suspect: bool = False


def suspicions(tallies: Sequence[RowTally], prior: BetaPrior) -> list[Suspicion]:
    """Suspicions against the golds of rows that have a wrong answer, by row number.

    Suspect are those of the largest chances, as many as keep the expected share of right golds among them at 5 %.

    Args:
        tallies: one for each row.
        prior: pass rates of the version, as fitted to them.
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
    """Log-likelihood that ``true`` samples are right and ``slip`` of the others are alike."""
    passes = log_beta_binomial(true, samples, prior.a, prior.b)
    return passes + log_beta_binomial(slip, samples - true, slips.a, slips.b)


def _agreement_of_slips(tallies: Sequence[RowTally]) -> BetaPrior:
    states: Counter[tuple[int, int]] = Counter()
    for tally in tallies:
        slipped = tally.samples - tally.correct
        if slipped > 1 and 2 * tally.correct >= tally.samples:
            leading = 0 if tally.leading is None else tally.leading.votes
            states[slipped, leading if leading > 1 else 0] += 1  # one answer agrees with none
    return fit_prior(states, SLIPS, (_SLIP_WEIGHT,))
