"""Allocation: which rows to sample next, so that few samples settle the classes of many rows.

A row's index is the largest expected decrease of its probability of a wrong class per further sample, over all numbers
of samples that it may still get. One sample often changes no decision where eight would, so looking one sample ahead is
not enough. Rows are chosen by their index: the policy KG(*) of Frazier and Powell, "Paradoxes in learning and the
marginal value of information", Decision Analysis, 2010.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from trainer_core.profiling.classes import PassBand
from trainer_core.profiling.prior import BetaPrior
from trainer_core.profiling.tally import RowTally

_AT_ONCE = 4
"""Most further samples of a row in one round; their results decide about the next."""
_ROUNDS = 8
"""A round spends at most one part in this many of the remaining budget."""


@dataclass(frozen=True, slots=True)
class SamplingPlan:
    """Bounds of a profile."""

    band: PassBand
    first: int = 4
    """Samples that every row gets."""
    most: int = 32
    """Most samples of one row."""
    budget: int = 0
    """Most samples of all rows."""
    target_error: float = 0.0
    """Mean probability of a wrong class at which sampling ends."""
    votes: int = 8
    """Samples of a row with agreeing wrong answers before its gold is judged."""


@dataclass(frozen=True, slots=True)
class Lookahead:
    """Expected gain of further samples, by graded samples n and right samples c; shape [most + 1, most + 1] each."""

    error: NDArray[np.float64]
    """Probability of a wrong class."""
    index: NDArray[np.float64]
    """Largest expected decrease of ``error`` per sample."""
    samples: NDArray[np.int64]
    """Number of samples with this expected decrease."""


@lru_cache(maxsize=64)
def look_ahead(band: PassBand, prior: BetaPrior, most: int) -> Lookahead:
    """The table for all counts that a row can have."""
    shape = (most + 1, most + 1)
    error, index, samples = np.zeros(shape), np.zeros(shape), np.zeros(shape, np.int64)
    for n in range(most + 1):
        for c in range(n + 1):
            error[n, c] = band.classify(n, c, prior)[1]
    n, c = np.indices(shape)
    right = (prior.a + c) / (prior.a + prior.b + n)  # the next sample's chance; entries beyond c = n are not used
    expected = error
    for ahead in range(1, most + 1):
        here = slice(0, most + 1 - ahead)
        # E over `ahead` samples, from the values for `ahead - 1` samples one sample later
        after = np.full(shape, np.nan)
        after[:most, :most] = right[:most, :most] * expected[1:, 1:] + (1 - right[:most, :most]) * expected[1:, :most]
        expected = after
        fall = (error[here, here] - expected[here, here]) / ahead
        better = fall > index[here, here] + 1e-15
        index[here, here] = np.where(better, fall, index[here, here])
        samples[here, here] = np.where(better, ahead, samples[here, here])
    return Lookahead(error, index, samples)


def next_round(
    tallies: Sequence[RowTally], plan: SamplingPlan, prior: BetaPrior, *, least: int = 1
) -> Mapping[int, int]:
    """Further samples by row number; empty once the plan is complete.

    First every row gets its first samples, within the budget. Rows whose wrong answers agree follow until they have
    enough votes, then rows with the largest index.

    Args:
        tallies: one for each row.
        plan: the bounds.
        prior: distribution of pass rates, fitted to the tallies.
        least: minimum samples of a round if that many are useful: an engine is faster with many.
    """
    left = plan.budget - sum(tally.asked for tally in tallies)
    if left <= 0:
        return {}
    missing = {row: plan.first - tally.asked for row, tally in enumerate(tallies) if tally.asked < plan.first}
    if missing:
        return _within(missing, left)
    table = look_ahead(plan.band, prior, plan.most)
    graded = [tally for tally in tallies if tally.samples]
    mean = sum(table.error[_state(tally, plan)] for tally in graded) / max(1, len(graded))
    contested = {
        row: min(_AT_ONCE, plan.votes - tally.asked, plan.most - tally.asked)
        for row, tally in enumerate(tallies)
        if tally.asked < min(plan.votes, plan.most) and _is_contested(tally)
    }
    if mean <= plan.target_error:
        return _within(contested, left)
    open_rows = [
        (float(table.index[_state(tally, plan)]), row)
        for row, tally in enumerate(tallies)
        if row not in contested and tally.asked < plan.most
    ]
    ranked = sorted((pair for pair in open_rows if pair[0] > 0.0), key=lambda pair: (-pair[0], pair[1]))
    wanted = contested | {
        row: min(_AT_ONCE, int(table.samples[_state(tallies[row], plan)]), plan.most - tallies[row].asked)
        for _, row in ranked
    }
    return _within(wanted, min(left, max(least, left // _ROUNDS)))


def mean_error(tallies: Sequence[RowTally], band: PassBand, prior: BetaPrior) -> float:
    """Mean probability of a wrong class over rows with a graded sample; 1 if there is none."""
    graded = [(tally.samples, tally.correct) for tally in tallies if tally.samples]
    known = {state: band.classify(*state, prior)[1] for state in set(graded)}
    return sum(known[state] for state in graded) / len(graded) if graded else 1.0


def is_settled(tallies: Sequence[RowTally], plan: SamplingPlan, prior: BetaPrior) -> bool:
    """Whether a plan without a next round has reached its goal; False if rows have the most samples and are still
    uncertain."""
    if mean_error(tallies, plan.band, prior) <= plan.target_error:
        return True
    table = look_ahead(plan.band, prior, plan.most)
    return not any(
        tally.asked >= plan.most and table.error[_state(tally, plan)] > plan.target_error for tally in tallies
    )


def _is_contested(tally: RowTally) -> bool:
    leading = tally.leading
    return leading is not None and leading.votes >= 2 and 2 * leading.votes > tally.samples


def _state(tally: RowTally, plan: SamplingPlan) -> tuple[int, int]:
    return min(tally.samples, plan.most), min(tally.correct, plan.most)


def _within(wanted: Mapping[int, int], left: int) -> dict[int, int]:
    """The first of the wanted samples, up to the remaining budget."""
    found: dict[int, int] = {}
    for row, count in wanted.items():
        taken = min(count, left)
        if taken <= 0:
            break
        found[row] = taken
        left -= taken
    return found
