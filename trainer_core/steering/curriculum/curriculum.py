"""A mixture of sources by weight; within a source, rows in random order or by difficulty."""

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from trainer_core.prompting.plan import check_rows
from trainer_core.spec.data.curriculum import (
    DifficultyBandCurriculum,
    DifficultyTargetCurriculum,
    GoldilocksCurriculum,
)
from trainer_core.spec.run import RunSpec
from trainer_core.steering.curriculum.allocation import Allocator
from trainer_core.steering.curriculum.difficulty import DifficultyPools
from trainer_core.steering.curriculum.draw import Draw
from trainer_core.steering.curriculum.goldilocks import GoldilocksOrder
from trainer_core.steering.curriculum.hints import HintScaffold
from trainer_core.steering.curriculum.mixture import Mixture
from trainer_core.steering.curriculum.order import EpochOrder
from trainer_core.steering.curriculum.target import DifficultyTarget

Rows = Mapping[str, Sequence[dict[str, Any]]]
Within = EpochOrder | DifficultyPools | GoldilocksOrder | DifficultyTarget


class Curriculum:
    """Draws prompts. Given seed, spec changes and observations, the sequence of draws is always the same.

    Attributes:
        fallbacks: draws so far that found no row of their source (left) in the difficulty band, and took one of the
            whole source.
    """

    def __init__(self, spec: RunSpec, sources: Rows, seed: int) -> None:
        """``sources`` holds the rows of each source of ``spec.data``.

        Raises:
            ValueError: a source is missing or empty, or lacks a column that the spec needs.
        """
        for source in spec.data.sources:
            if not sources.get(source.name):
                raise ValueError(f"the source {source.name!r} ({source.dataset}) has no rows")
            check_rows(spec, source.name, sources[source.name])
        self.fallbacks = 0
        self._spec = spec
        self._rows = {source.name: sources[source.name] for source in spec.data.sources}
        self._rng = Random(f"{seed}:curriculum")
        self._drawn = 0
        self._mixture, self._allocator, self._hints = Mixture(spec), Allocator(spec), HintScaffold()
        self._within = {name: _within(name, rows, spec, f"{seed}:{name}") for name, rows in self._rows.items()}

    def draw(self, count: int, step: int | None = None) -> list[Draw]:
        """The next ``count`` prompts; sources of weight 0 are never drawn.

        By difficulty, a prompt comes twice within one call only when its source has no other left. In epochs it can
        come twice only where one epoch ends and the next begins.

        Args:
            count: how many.
            step: the step they are for, on which a transition of the mixture depends. None: as many steps as the
                prompts drawn so far would fill have passed.
        """
        at = 1 + self._drawn // self._spec.schedule.prompts_per_step if step is None else step
        self._drawn += count
        chosen = self._mixture.choose(self._rng, count, at)
        rows = self._choose_rows(chosen)
        ids = [f"{source}:{row}" for source, row in zip(chosen, rows, strict=True)]
        sizes = self._allocator.sizes(ids)
        return [self._draw(*drawn) for drawn in zip(chosen, rows, ids, sizes, strict=True)]

    def observe(self, prompt_id: str, pass_rate: float, samples: int | None = None) -> None:
        """Take in the share of successful samples of one group.

        Args:
            prompt_id: the prompt id of the group.
            pass_rate: the share.
            samples: completions that could be graded. None: as many as ``rollout.group_size``.

        Raises:
            ValueError: the prompt is none of this curriculum's, or the rate no share.
        """
        source, _, row = prompt_id.rpartition(":")
        if source not in self._rows or not row.isdecimal() or int(row) >= len(self._rows[source]):
            raise ValueError(f"there is no prompt {prompt_id!r}")
        if not 0.0 <= pass_rate <= 1.0:
            raise ValueError(f"{pass_rate} is no pass rate ({prompt_id})")
        within = self._within[source]
        if isinstance(within, DifficultyPools | DifficultyTarget):
            within.observe(int(row), pass_rate)
        self._mixture.observe(source, pass_rate)
        self._allocator.observe(prompt_id, pass_rate, self._spec.rollout.group_size if samples is None else samples)
        if self._spec.prompting.hints is not None:
            self._hints.observe(self._spec.prompting.hints, prompt_id, pass_rate)

    def update_spec(self, spec: RunSpec) -> None:
        """Go on under changed weights, bands or targets. Sources and types of methods cannot change.

        Raises:
            ValueError: they did, or no row is left to draw; nothing has changed.
        """
        if [source.name for source in spec.data.sources] != list(self._rows):
            raise ValueError("the sources of a run cannot change")
        if spec.curriculum.type != self._spec.curriculum.type:
            raise ValueError("the type of a run's curriculum cannot change")
        if spec.batching.allocation.type != self._spec.batching.allocation.type:
            raise ValueError("the type of a run's allocation cannot change")
        curriculum = spec.curriculum
        for within in self._within.values():
            if isinstance(within, GoldilocksOrder) and isinstance(curriculum, GoldilocksCurriculum):
                within.check(curriculum)
        self._spec = spec
        self._mixture.update_spec(spec)
        self._allocator.update_spec(spec)
        for within in self._within.values():
            match within, curriculum:
                case DifficultyPools(), DifficultyBandCurriculum():
                    within.set_band(curriculum)
                case GoldilocksOrder(), GoldilocksCurriculum():
                    within.set_band(curriculum)
                case DifficultyTarget(), DifficultyTargetCurriculum():
                    within.set_target(curriculum)

    def state(self) -> dict[str, Any]:
        """All that the next draws depend on, as JSON."""
        version, numbers, gauss = self._rng.getstate()
        return {
            "type": self._spec.curriculum.type,
            "rows": {name: len(rows) for name, rows in self._rows.items()},
            "rng": [version, list(numbers), gauss],
            "within": {name: within.state() for name, within in self._within.items()},
            "fallbacks": self.fallbacks,
            "drawn": self._drawn,
            "mixture": self._mixture.state(),
            "allocator": self._allocator.state(),
            "hints": self._hints.state(),
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
        self._drawn = state["drawn"]
        self._mixture.load(state["mixture"])
        self._allocator.load(state["allocator"])
        self._hints.load(state["hints"])

    def _choose_rows(self, sources: list[str]) -> list[int]:
        counts, avoid = Counter(sources), {name: set[int]() for name in self._rows}
        batches = {
            name: iter(within.take(self._rng, counts[name]))
            for name, within in self._within.items()
            if isinstance(within, DifficultyTarget)
        }
        rows = []
        for source in sources:
            row = next(batches[source]) if source in batches else self._next_row(source, avoid[source])
            avoid[source].add(row)
            rows.append(row)
        return rows

    def _next_row(self, source: str, avoid: set[int]) -> int:
        within = self._within[source]
        if isinstance(within, DifficultyPools):
            row, fell_back = within.draw(self._rng, avoid)
            self.fallbacks += fell_back
            return row
        assert not isinstance(within, DifficultyTarget)
        return within.next()

    def _draw(self, source: str, row: int, prompt_id: str, samples: int) -> Draw:
        item, hints = self._rows[source][row], self._spec.prompting.hints
        hint = "" if hints is None else self._hints.draw(hints, prompt_id, item, samples)
        return Draw(source, row, prompt_id, item, samples, hint)


def _within(name: str, rows: Sequence[dict[str, Any]], spec: RunSpec, seed: str) -> Within:
    match spec.curriculum:
        case DifficultyBandCurriculum() as curriculum:
            return DifficultyPools(len(rows), curriculum)
        case DifficultyTargetCurriculum() as curriculum:
            return DifficultyTarget(len(rows), curriculum)
        case GoldilocksCurriculum() as curriculum:
            return GoldilocksOrder(name, rows, curriculum, seed)
        case _:
            return EpochOrder(len(rows), seed)
