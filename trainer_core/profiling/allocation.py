"""Allocation: which rows are sampled next, so that few samples settle the classes of many rows.

A row's index is the largest fall of its probability of a wrong class that further samples can be expected to bring, per
sample, over all numbers of them that it may still get. One sample alone often changes no decision though eight would,
so to look one sample ahead is not enough. Rows are taken by their index: the policy KG(*) of Frazier and Powell,
"Paradoxes in learning and the marginal value of information", Decision Analysis, 2010.
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
"""Most further samples of a row in one round: what they show decides about the next."""
_ROUNDS = 8
"""A round spends no more than this part of what is left."""


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
    """Samples of a row whose wrong answers agree, before its gold is judged."""


@dataclass(frozen=True, slots=True)
class Lookahead:
    """Gain that further samples promise, by graded samples n and right ones c; shape [most + 1, most + 1] each."""

    error: NDArray[np.float64]
    """Probability of a wrong class."""
    index: NDArray[np.float64]
    """Largest expected fall of it per sample."""
    samples: NDArray[np.int64]
    """Number of samples that promises this fall."""


@lru_cache(maxsize=64)
def look_ahead(band: PassBand, prior: BetaPrior, most: int) -> Lookahead:
    """The table of all counts that a row can have."""
    shape = (most + 1, most + 1)
    error, index, samples = np.zeros(shape), np.zeros(shape), np.zeros(shape, np.int64)
    for n in range(most + 1):
        for c in range(n + 1):
            error[n, c] = band.classify(n, c, prior)[1]
    n, c = np.indices(shape)
    right = (prior.a + c) / (prior.a + prior.b + n)  # the next sample's chance; beyond c = n nothing is read
    expected = error
    for ahead in range(1, most + 1):
        here = slice(0, most + 1 - ahead)
        # E over `ahead` samples from what `ahead - 1` of them give one sample later
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
    """Further samples by row number; empty once the plan is fulfilled.

    First every row gets its first samples, as far as the budget goes. Then come rows whose wrong answers agree with one
    another, until they have enough votes, and then those of the largest index.

    Args:
        tallies: one for each row.
        plan: the bounds.
        prior: pass rates of the version, as fitted to the tallies.
        least: samples that a round has at least, where so many are of use: an engine is fast with many.
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
    """Mean probability of a wrong class over rows with a graded sample; 1 where there is none."""
    graded = [(tally.samples, tally.correct) for tally in tallies if tally.samples]
    known = {state: band.classify(*state, prior)[1] for state in set(graded)}
    return sum(known[state] for state in graded) / len(graded) if graded else 1.0


def is_settled(tallies: Sequence[RowTally], plan: SamplingPlan, prior: BetaPrior) -> bool:
    """Whether a plan without a next round has come to its end; False where rows have got the most and are in doubt."""
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
    """The first of the wanted samples, as many as are left."""
    found: dict[int, int] = {}
    for row, count in wanted.items():
        taken = min(count, left)
        if taken <= 0:
            break
        found[row] = taken
        left -= taken
    return found
