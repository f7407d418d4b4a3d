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
        fallbacks: draws so far that found no row of their source (left) in the difficulty band, and took one of the
            whole source.
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
        self._spec = spec
        self._rows = {source.name: sources[source.name] for source in spec.data.sources}
        self._rng = Random(f"{seed}:curriculum")
        self._within: dict[str, EpochOrder | DifficultyPools] = {
            name: DifficultyPools(len(rows), spec.curriculum)
            if isinstance(spec.curriculum, DifficultyBandCurriculum)
            else EpochOrder(len(rows), f"{seed}:{name}")
            for name, rows in self._rows.items()
        }

    def draw(self, count: int) -> list[Draw]:
        """The next ``count`` prompts; sources of weight 0 are never drawn.

        By difficulty, a prompt comes twice within one call only when its source has no other left. In epochs it can
        come twice only where one epoch ends and the next begins.
        """
        drawn: dict[str, set[int]] = {name: set() for name in self._rows}
        draws = []
        for source in self._choose_sources(count):
            row = self._row(source, drawn[source])
            drawn[source].add(row)
            draws.append(Draw(source, row, f"{source}:{row}", self._rows[source][row]))
        return draws

    def observe(self, prompt_id: str, pass_rate: float) -> None:
        """Take in the share of successful samples of one group.

        Raises:
            ValueError: the prompt is none of this curriculum's, or the rate no share.
        """
        source, _, row = prompt_id.rpartition(":")
        if source not in self._rows or not row.isdecimal() or int(row) >= len(self._rows[source]):
            raise ValueError(f"there is no prompt {prompt_id!r}")
        if not 0.0 <= pass_rate <= 1.0:
            raise ValueError(f"{pass_rate} is no pass rate ({prompt_id})")
        within = self._within[source]
        if isinstance(within, DifficultyPools):
            within.observe(int(row), pass_rate)

    def update_spec(self, spec: RunSpec) -> None:
        """Go on under changed weights or another band. Sources and the type of the curriculum cannot change.

        Raises:
            ValueError: they did; nothing has changed.
        """
        if [source.name for source in spec.data.sources] != list(self._rows):
            raise ValueError("the sources of a run cannot change")
        if spec.curriculum.type != self._spec.curriculum.type:
            raise ValueError("the type of a run's curriculum cannot change")
        self._spec = spec
        for within in self._within.values():
            if isinstance(within, DifficultyPools) and isinstance(spec.curriculum, DifficultyBandCurriculum):
                within.set_band(spec.curriculum)

    def state(self) -> dict[str, Any]:
        """All that the next draws depend on, as JSON."""
        version, numbers, gauss = self._rng.getstate()
        return {
            "type": self._spec.curriculum.type,
            "rows": {name: len(rows) for name, rows in self._rows.items()},
            "rng": [version, list(numbers), gauss],
            "within": {name: within.state() for name, within in self._within.items()},
            "fallbacks": self.fallbacks,
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from a checkpoint. Weights and band are those of the present spec.

        Raises:
            ValueError: the state is that of other sources or of another type of curriculum; nothing has changed.
        """
        if state["type"] != self._spec.curriculum.type:
            raise ValueError(f"the checkpoint's curriculum is {state['type']}, the run's {self._spec.curriculum.type}")
        if state["rows"] != {name: len(rows) for name, rows in self._rows.items()}:
            raise ValueError("the checkpoint's curriculum belongs to other data")
        version, numbers, gauss = state["rng"]
        self._rng.setstate((version, tuple(numbers), gauss))
        for name, within in self._within.items():
            within.load(state["within"][name])
        self.fallbacks = state["fallbacks"]

    def _choose_sources(self, count: int) -> list[str]:
        sources = self._spec.data.sources
        return self._rng.choices([s.name for s in sources], [s.weight for s in sources], k=count)

    def _row(self, source: str, avoid: set[int]) -> int:
        within = self._within[source]
        if isinstance(within, EpochOrder):
            return within.next()
        row, fell_back = within.draw(self._rng, avoid)
        self.fallbacks += fell_back
        return row
