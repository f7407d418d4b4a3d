"""Rows by difficulty: a decayed pass rate for each, and the rows inside and outside a band of it."""

from random import Random
from typing import Any

from trainer_core.spec.data.curriculum import DifficultyBandCurriculum
from trainer_core.steering.curriculum.pool import IndexPool
from trainer_core.steering.curriculum.rates import PassRates


class DifficultyPools:
    """The rows of one source, split by whether their running pass rate is in the band (both edges included)."""

    def __init__(self, count: int, spec: DifficultyBandCurriculum, rates: PassRates[int]) -> None:
        """``rates`` are those of the ``count`` rows. The caller that observes a rate reports the change with
        ``place``."""
        self._spec, self._rates = spec, rates
        self._inside, self._outside = IndexPool(range(count)), IndexPool()
        self._place_all()

    def draw(self, rng: Random, avoid: set[int]) -> tuple[int, bool]:
        """A random row, and whether it had to come from outside because the band had no row (left).

        Rows in ``avoid`` are drawn only if there is no other.
        """
        explores = rng.random() < self._spec.explore
        first, second = (self._outside, self._inside) if explores else (self._inside, self._outside)
        for pool in (first, second):
            row = _choose_except(pool, rng, avoid)
            if row is not None:
                return row, pool is self._outside and not explores
        pool = first if len(first) else second
        return pool.choose(rng), pool is self._outside and not explores

    def place(self, row: int) -> None:
        """Move ``row``, whose rate has changed, to the right pool."""
        self._put(row, self._rates.get(row))

    def set_band(self, spec: DifficultyBandCurriculum) -> None:
        """Switch to another band: rows are sorted again, rates stay."""
        moved = _band(spec) != _band(self._spec)
        self._spec = spec
        if moved:
            self._place_all()

    def rates(self) -> list[float]:
        """The known pass rates, in no particular order."""
        return [rate for _, rate in self._rates.items()]

    def state(self) -> dict[str, Any]:
        """State for the checkpoint, including the inner order of the pools, since random choices depend on it."""
        return {
            "band": _band(self._spec),
            "rates": self._rates.state(),
            "inside": self._inside.members(),
            "outside": self._outside.members(),
        }

    def load(self, state: dict[str, Any]) -> None:
        """Restore from a checkpoint; if the band has changed since, the rows are sorted again."""
        self._rates.load(state["rates"])
        self._inside, self._outside = IndexPool(state["inside"]), IndexPool(state["outside"])
        if list(state["band"]) != _band(self._spec):
            self._place_all()

    def _place_all(self) -> None:
        for row, rate in sorted(self._rates.items()):
            self._put(row, rate)

    def _put(self, row: int, rate: float | None) -> None:
        inside = rate is None or self._spec.min_pass_rate <= rate <= self._spec.max_pass_rate
        (self._outside if inside else self._inside).discard(row)
        (self._inside if inside else self._outside).add(row)


def _band(spec: DifficultyBandCurriculum) -> list[float]:
    return [spec.min_pass_rate, spec.max_pass_rate]


def _choose_except(pool: IndexPool, rng: Random, avoid: set[int]) -> int | None:
    """A random member outside ``avoid``; None if there is none. Constant time unless most members are avoided."""
    if not len(pool):
        return None
    for _ in range(8):
        row = pool.choose(rng)
        if row not in avoid:
            return row
    left = [row for row in pool.members() if row not in avoid]
    return left[rng.randrange(len(left))] if left else None
