"""A mixture of sources by weight; within a source, rows in random order or by difficulty."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from trainer_core.spec.curriculum import DifficultyBandCurriculum
from trainer_core.spec.run import RunSpec
from trainer_core.steering.curriculum.difficulty import DifficultyPools
from trainer_core.steering.curriculum.draw import Draw
from trainer_core.steering.curriculum.order import EpochOrder

Rows = Mapping[str, Sequence[dict[str, Any]]]


class Curriculum:
    """Draws prompts. Given seed, spec changes and observations, the sequence of draws is always the same.

    Attributes:
        fallbacks: draws for which no row of the source lay in the difficulty band.
    """

    def __init__(self, spec: RunSpec, sources: Rows, seed: int) -> None:
        """``sources`` holds the rows of each source of ``spec.data``.

        Raises:
            ValueError: a source is missing or empty.
        """
        for source in spec.data.sources:
            if not sources.get(source.name):
                raise ValueError(f"the source {source.name!r} ({source.dataset}) has no rows")
        self.fallbacks = 0
        self._rows = {source.name: sources[source.name] for source in spec.data.sources}
        self._rng = Random(f"{seed}:curriculum")
        self._orders = {name: EpochOrder(len(rows), f"{seed}:{name}") for name, rows in self._rows.items()}
        self._pools: dict[str, DifficultyPools] = {}
        self._spec = spec
        self._set_pools()

    def draw(self, count: int) -> list[Draw]:
        """The next ``count`` prompts; sources of weight 0 are never drawn.

        Within one call a prompt comes twice only when its source has no other left.
        """
        drawn: dict[str, set[int]] = {name: set() for name in self._rows}
        draws = []
        for source in self._choose_sources(count):
            row = self._row(source, drawn[source])
            drawn[source].add(row)
            draws.append(Draw(source, row, f"{source}:{row}", self._rows[source][row]))
        return draws

    def observe(self, prompt_id: str, pass_rate: float) -> None:
        """Take in the share of successful samples of one group."""
        source, _, row = prompt_id.rpartition(":")
        if source in self._pools:
            self._pools[source].observe(int(row), pass_rate)

    def update_spec(self, spec: RunSpec) -> None:
        """Go on under changed weights or another band. Sources and the type of the curriculum cannot change."""
        self._spec = spec
        self._set_pools()

    def state(self) -> dict[str, Any]:
        """All that the next draws depend on, as JSON."""
        version, numbers, gauss = self._rng.getstate()
        return {
            "rng": [version, list(numbers), gauss],
            "orders": {name: order.state() for name, order in self._orders.items()},
            "pools": {name: pools.state() for name, pools in self._pools.items()},
            "fallbacks": self.fallbacks,
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from a checkpoint."""
        version, numbers, gauss = state["rng"]
        self._rng.setstate((version, tuple(numbers), gauss))
        for name, order in self._orders.items():
            order.load(state["orders"][name])
        for name, pools in self._pools.items():
            pools.load(state["pools"][name])
        self.fallbacks = state["fallbacks"]

    def _choose_sources(self, count: int) -> list[str]:
        sources = self._spec.data.sources
        return self._rng.choices([s.name for s in sources], [s.weight for s in sources], k=count)

    def _row(self, source: str, avoid: set[int]) -> int:
        if source in self._pools:
            row, fell_back = self._pools[source].draw(self._rng, avoid)
            self.fallbacks += fell_back
            return row
        return self._orders[source].next()

    def _set_pools(self) -> None:
        band = self._spec.curriculum
        if not isinstance(band, DifficultyBandCurriculum):
            return
        for name, rows in self._rows.items():
            if name in self._pools:
                self._pools[name].set_band(band)
            else:
                self._pools[name] = DifficultyPools(len(rows), band)
