"""A synthetic policy of known skill: pass rates, slips that agree now and then, and golds that are wrong."""

from __future__ import annotations

from collections import Counter
from random import Random

from trainer_core.profiling import BetaPrior, RowTally, SamplingPlan, WrongAnswer, count_states, fit_prior, next_round


class SyntheticPolicy:
    """Answers rows. A row's gold may be planted: then its right answer counts against it."""

    def __init__(self, rates: list[float], seed: int, *, slips: tuple[float, float] = (1.0, 4.0), wrong: float = 0.0):
        """``slips``: Beta distribution of the chance that a wrong answer is the row's usual one."""
        self._rng = Random(seed)
        self.rates = rates
        self._habits = [self._rng.betavariate(*slips) for _ in rates]
        self.planted = {row for row in range(len(rates)) if self._rng.random() < wrong}
        self._votes: list[Counter[str]] = [Counter() for _ in rates]
        self._correct = [0] * len(rates)

    def sample(self, row: int, count: int) -> None:
        """Answer a row ``count`` times."""
        for _ in range(count):
            if self._rng.random() < self.rates[row]:
                answer = "true"
            elif self._rng.random() < self._habits[row]:
                answer = "habit"
            else:
                answer = f"slip {self._rng.randrange(40)}"
            gold = "planted" if row in self.planted else "true"
            if answer == gold:
                self._correct[row] += 1
            else:
                self._votes[row][answer] += 1

    def tallies(self) -> list[RowTally]:
        """The counts so far."""
        found = []
        for votes, correct in zip(self._votes, self._correct, strict=True):
            total = votes.total() + correct
            found.append(RowTally(total, total, correct, tuple(WrongAnswer(*pair) for pair in votes.most_common())))
        return found

    @property
    def spent(self) -> int:
        """Samples so far."""
        return sum(tally.asked for tally in self.tallies())


def profile(policy: SyntheticPolicy, plan: SamplingPlan) -> BetaPrior:
    """Sample until the plan is fulfilled. Returns the prior of the end."""
    while True:
        tallies = policy.tallies()
        prior = fit_prior(count_states(tallies))
        wanted = next_round(tallies, plan, prior)
        if not wanted:
            return prior
        for row, count in wanted.items():
            policy.sample(row, count)


def rates_of(shape: str, count: int, seed: int) -> list[float]:
    """Pass rates as versions have them: most rows at the ends, in the middle, or all over."""
    a, b = {"ends": (0.35, 0.45), "middle": (3.0, 3.0), "even": (1.0, 1.0), "hard": (0.4, 2.0), "easy": (3.0, 0.6)}[
        shape
    ]
    rng = Random(seed)
    return [rng.betavariate(a, b) for _ in range(count)]
