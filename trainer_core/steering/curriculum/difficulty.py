"""Rows by difficulty: a decayed pass rate for each, and the rows inside and outside a band of it."""

from random import Random
from typing import Any

from trainer_core.spec.curriculum import DifficultyBandCurriculum
from trainer_core.steering.curriculum.pool import IndexPool


class DifficultyPools:
    """The rows of one source, parted by whether their running pass rate lies in the band."""

    def __init__(self, count: int, spec: DifficultyBandCurriculum) -> None:
        self._spec = spec
        self._rates: dict[int, float] = {}
        self._inside, self._outside = IndexPool(range(count)), IndexPool()

    def draw(self, rng: Random, avoid: set[int]) -> tuple[int, bool]:
        """A random row that is not in ``avoid`` if there is one, and whether the band had nothing to offer."""
        explores = rng.random() < self._spec.explore
        first, second = (self._outside, self._inside) if explores else (self._inside, self._outside)
        for pool in (first, second):
            row = _choose_except(pool, rng, avoid)
            if row is not None:
                return row, pool is self._outside and not explores
        return (first if len(first) else second).choose(rng), not len(self._inside)

    def observe(self, row: int, pass_rate: float) -> None:
        """Take in the pass rate of one group of ``row``."""
        past = self._rates.get(row)
        decay = self._spec.decay
        self._rates[row] = pass_rate if past is None else decay * past + (1 - decay) * pass_rate
        self._place(row)

    def set_band(self, spec: DifficultyBandCurriculum) -> None:
        """Sort the rows anew if the band has moved; rates stay."""
        moved = (spec.min_pass_rate, spec.max_pass_rate) != (self._spec.min_pass_rate, self._spec.max_pass_rate)
        self._spec = spec
        if moved:
            for row in sorted(self._rates):
                self._place(row)

    def state(self) -> dict[str, Any]:
        """For the checkpoint."""
        return {
            "rates": list(self._rates.items()),
            "inside": self._inside.members(),
            "outside": self._outside.members(),
        }

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        self._rates = {int(row): float(rate) for row, rate in state["rates"]}
        self._inside, self._outside = IndexPool(state["inside"]), IndexPool(state["outside"])

    def _place(self, row: int) -> None:
        inside = self._spec.min_pass_rate <= self._rates[row] <= self._spec.max_pass_rate
        (self._outside if inside else self._inside).discard(row)
        (self._inside if inside else self._outside).add(row)


def _choose_except(pool: IndexPool, rng: Random, avoid: set[int]) -> int | None:
    """A random member outside ``avoid``; None if there is none."""
    if not len(pool):
        return None
    for _ in range(8):
        row = pool.choose(rng)
        if row not in avoid:
            return row
    left = [row for row in pool.members() if row not in avoid]
    return left[rng.randrange(len(left))] if left else None
