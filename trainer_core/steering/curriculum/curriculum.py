"""A mixture of sources by weight; within a source, rows in random order or by difficulty."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
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
from trainer_core.steering.curriculum.histogram import SourceRates, source_rates
from trainer_core.steering.curriculum.mixture import Mixture
from trainer_core.steering.curriculum.order import EpochOrder
from trainer_core.steering.curriculum.outcome import GroupOutcome
from trainer_core.steering.curriculum.prediction import PassRatePredictor
from trainer_core.steering.curriculum.prior import Priors, dumped
from trainer_core.steering.curriculum.rates import PassRates
from trainer_core.steering.curriculum.stages import StageBegun, StageKeeper, in_stage
from trainer_core.steering.curriculum.tally import GroupTally
from trainer_core.steering.curriculum.target import DifficultyTarget

Rows = Mapping[str, Sequence[dict[str, Any]]]
Within = EpochOrder | DifficultyPools | GoldilocksOrder | DifficultyTarget
DECAY = 0.5
"""Weight of the past in running pass rates that only metrics use."""


class Curriculum:
    """Draws prompts. Given seed, spec changes and observations, the sequence of draws is always the same.

    Attributes:
        fallbacks: draws so far that found no row of their source (left) in the difficulty band and took one from the
            whole source.
    """

    def __init__(self, spec: RunSpec, sources: Rows, seed: int, priors: Priors | None = None) -> None:
        """
        Args:
            spec: the run's.
            sources: rows of each source of ``spec.data``.
            seed: seed of all draws.
            priors: pass rates of the rows measured before the run. A resumed run uses those of its checkpoint
                (``prior.saved``), even if others have been measured since.

        Raises:
            ValueError: a source is missing or empty, or lacks a column or notes that the spec needs.
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
        self._priors: Priors = {name: priors[name] for name in self._rows if name in priors} if priors else {}
        decay = getattr(spec.curriculum, "decay", DECAY)
        self._rates = {name: PassRates(decay, self._priors.get(name)) for name in self._rows}
        self._stages, self._tally, self._metrics = StageKeeper(spec), GroupTally(self._rows), dict[str, float]()
        self._begun: list[StageBegun] = []
        present = self._stages.applied(spec)
        self._mixture, self._allocator, self._hints = Mixture(present), Allocator(spec), HintScaffold()
        self._predictors = {
            name: PassRatePredictor(partial(prompt_text, rows)) for name, rows in self._rows.items() if predicts(spec)
        }
        self._within = {name: self._order(name, present, f"{seed}:{name}") for name in self._rows}
        self._check_bands(spec)

    def draw(self, count: int, step: int | None = None) -> list[Draw]:
        """The next ``count`` prompts; sources of weight 0 are never drawn.

        By difficulty, a prompt repeats within one call only when its source has no other left. In epochs, it can repeat
        only where one epoch ends and the next begins.

        Args:
            count: how many.
            step: the step they are for; transitions of the mixture depend on it. None means the number of steps that
                the prompts drawn so far would fill.
        """
        at = 1 + self._drawn // self._spec.schedule.prompts_per_step if step is None else step
        ordinals = range(self._drawn, self._drawn + count)
        self._drawn += count
        if (begun := self._stages.enter(at)) is not None:
            self._begun.append(begun)
            self._follow(self._stages.applied(self._spec))
        chosen = self._mixture.choose(self._rng, count, at)
        rows = self._choose_rows(chosen)
        ids = [f"{source}:{row}" for source, row in zip(chosen, rows, strict=True)]
        sizes = self._allocator.sizes(ids, self._predicted(zip(chosen, rows, ids, strict=True)))
        return [self._draw(*drawn) for drawn in zip(chosen, rows, ids, sizes, ordinals, strict=True)]

    @property
    def drawn(self) -> int:
        """Number of draws so far, those of the attempts before included."""
        return self._drawn

    @property
    def stage(self) -> str | None:
        """Name of the stage that prompts are drawn in; None for a run without stages."""
        present = self._stages.present
        return None if present is None else present.name

    def histogram(self) -> list[SourceRates] | None:
        """Pass rates of each source's prompts; None if prompts are not drawn by one pass rate each."""
        found = []
        for name, within in self._within.items():
            rates = None if isinstance(within, EpochOrder) else within.rates()
            if rates is None:
                return None
            found.append(source_rates(name, len(self._rows[name]), rates))
        return found

    def observe(self, prompt_id: str, pass_rate: float, samples: int | None = None) -> None:
        """Record the share of successful samples of one group.

        Args:
            prompt_id: the prompt id of the group.
            pass_rate: the share.
            samples: completions that could be graded. None means ``rollout.group_size``.

        Raises:
            ValueError: the prompt is not in this curriculum, or the rate is not between 0 and 1.
        """
        source, _, row = prompt_id.rpartition(":")
        if source not in self._rows or not row.isdecimal() or int(row) >= len(self._rows[source]):
            raise ValueError(f"there is no prompt {prompt_id!r}")
        if not 0.0 <= pass_rate <= 1.0:
            raise ValueError(f"{pass_rate} is not a pass rate ({prompt_id})")
        within, graded = self._within[source], self._spec.rollout.group_size if samples is None else samples
        running = self._rates[source].observe(int(row), pass_rate, graded)
        if source in self._predictors:
            self._predictors[source].observe(int(row), running)
        if isinstance(within, DifficultyPools):
            within.place(int(row))
        self._mixture.observe(source, pass_rate)
        self._allocator.observe(prompt_id, pass_rate, graded)
        if self._spec.prompting.hints is not None:
            self._hints.observe(self._spec.prompting.hints, prompt_id, pass_rate)

    def count(self, group: GroupOutcome) -> None:
        """Add a group that has come back to the figures of its step. Call it before ``observe``, which updates the
        known rate."""
        self._tally.add(group, self.known(group.prompt_id))
        self._stages.observe(group)

    def end_step(self, step: int) -> None:
        """Close ``step``, which has been collected: the groups counted since the previous step are its groups."""
        self._stages.end_step(step)
        number = self._stages.number(step)
        self._metrics = self._tally.metrics() | ({} if number is None else {"curriculum/stage": float(number)})
        for name, predictor in self._predictors.items():
            if (fit := predictor.fit()) is not None:
                self._metrics[f"curriculum/prediction_r2/{name}"] = fit.r2
        self._tally = GroupTally(self._rows)

    def metrics(self) -> dict[str, float]:
        """Metrics of the last step that ended."""
        return dict(self._metrics)

    def begun(self) -> list[StageBegun]:
        """Stages that have begun since the last call."""
        begun, self._begun = self._begun, []
        return begun

    def known(self, prompt_id: str) -> float | None:
        """The pass rate of a prompt: the running one, or the one measured before the run; None if neither is known."""
        source, _, row = prompt_id.rpartition(":")
        rate, within = self._rates[source].get(int(row)), self._within[source]
        return within.rate(int(row)) if rate is None and isinstance(within, GoldilocksOrder) else rate

    def update_spec(self, spec: RunSpec) -> None:
        """Continue under changed weights, bands or targets. Sources and types of methods cannot change.

        Raises:
            ValueError: they did, or no row is left to draw; nothing has changed.
        """
        if [source.name for source in spec.data.sources] != list(self._rows):
            raise ValueError("the sources of a run cannot change")
        if spec.curriculum.type != self._spec.curriculum.type:
            raise ValueError("the type of a run's curriculum cannot change")
        if spec.batching.allocation.type != self._spec.batching.allocation.type:
            raise ValueError("the type of a run's allocation cannot change")
        if [stage.name for stage in spec.data.stages] != [stage.name for stage in self._spec.data.stages]:
            raise ValueError("the stages of a run cannot change")
        self._check_bands(spec)
        self._spec = spec
        self._stages.update_spec(spec)
        self._allocator.update_spec(spec)
        self._follow(self._stages.applied(spec))

    def state(self) -> dict[str, Any]:
        """Everything that the next draws depend on, as JSON."""
        version, numbers, gauss = self._rng.getstate()
        return {
            "type": self._spec.curriculum.type,
            "priors": dumped(self._priors),
            "rates": {name: rates.state() for name, rates in self._rates.items() if self._keeps_rates(name)},
            "stages": self._stages.state(),
            "tally": self._tally.state(),
            "rows": {name: len(rows) for name, rows in self._rows.items()},
            "rng": [version, list(numbers), gauss],
            "within": {name: within.state() for name, within in self._within.items()},
            "fallbacks": self.fallbacks,
            "drawn": self._drawn,
            "mixture": self._mixture.state(),
            "allocator": self._allocator.state(),
            "hints": self._hints.state(),
            "predictors": {name: predictor.state() for name, predictor in self._predictors.items()},
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Restore from a checkpoint. Weights and band are those of the current spec.

        Raises:
            ValueError: the state belongs to other sources or to another type of curriculum; nothing has changed.
        """
        if state["type"] != self._spec.curriculum.type:
            raise ValueError(f"the checkpoint's curriculum is {state['type']}, the run's {self._spec.curriculum.type}")
        if state["rows"] != {name: len(rows) for name, rows in self._rows.items()}:
            raise ValueError("the checkpoint's curriculum belongs to other data")
        if "stages" in state:
            self._stages.load(state["stages"])
            self._tally.load(state["tally"])
        present = self._stages.applied(self._spec)
        self._follow(present)
        version, numbers, gauss = state["rng"]
        self._rng.setstate((version, tuple(numbers), gauss))
        for name, rates in state.get("rates", {}).items():
            self._rates[name].load(rates)
        for name, within in self._within.items():
            within.load(state["within"][name])
        self.fallbacks = state["fallbacks"]
        self._drawn = state["drawn"]
        self._mixture.load(state["mixture"])
        self._allocator.load(state["allocator"])
        self._hints.load(state["hints"])
        for name, predictor in self._predictors.items():
            predictor.load(state.get("predictors", {}).get(name, []))

    def _order(self, name: str, present: RunSpec, seed: str) -> Within:
        rows, rates = self._rows[name], self._rates[name]
        match present.curriculum:
            case DifficultyBandCurriculum() as curriculum:
                return DifficultyPools(len(rows), curriculum, rates)
            case DifficultyTargetCurriculum() as curriculum:
                predictor = self._predictors.get(name) if curriculum.predict else None
                return DifficultyTarget(len(rows), curriculum, rates, predictor)
            case GoldilocksCurriculum() as curriculum:
                return GoldilocksOrder(name, rows, curriculum, seed, self._priors.get(name, {}))
            case _:
                return EpochOrder(len(rows), seed)

    def _check_bands(self, spec: RunSpec) -> None:
        """Reject a band without rows, in the curriculum or in any stage; nothing changes."""
        for chosen in (spec, *(in_stage(spec, stage) for stage in spec.data.stages)):
            for within in self._within.values():
                if isinstance(within, GoldilocksOrder) and isinstance(chosen.curriculum, GoldilocksCurriculum):
                    within.check(chosen.curriculum)

    def _follow(self, present: RunSpec) -> None:
        """Draw by the weights, the band or the target of ``present`` from now on."""
        self._mixture.update_spec(present)
        for within in self._within.values():
            match within, present.curriculum:
                case DifficultyPools(), DifficultyBandCurriculum() as curriculum:
                    within.set_band(curriculum)
                case GoldilocksOrder(), GoldilocksCurriculum() as curriculum:
                    within.set_band(curriculum)
                case DifficultyTarget(), DifficultyTargetCurriculum() as curriculum:
                    within.set_target(curriculum)

    def _keeps_rates(self, name: str) -> bool:
        """Whether the rates of a source are stored here because its order does not store them."""
        return not isinstance(self._within[name], DifficultyPools | DifficultyTarget)

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

    def _predicted(self, drawn: Iterable[tuple[str, int, str]]) -> dict[str, float]:
        """Predicted pass rates of the untried prompts among these, by prompt id."""
        found = {}
        for source, row, prompt_id in drawn if self._predictors else ():
            if self._rates[source].get(row) is None and (rate := self._predictors[source].predict([row])) is not None:
                found[prompt_id] = float(rate[0])
        return found

    def _draw(self, source: str, row: int, prompt_id: str, samples: int, ordinal: int) -> Draw:
        item, hints = self._rows[source][row], self._spec.prompting.hints
        hint = "" if hints is None else self._hints.draw(hints, prompt_id, item, samples)
        return Draw(source, row, prompt_id, item, samples, hint, ordinal)


def predicts(spec: RunSpec) -> bool:
    """Whether pass rates of prompts that were never tried are predicted."""
    return bool(getattr(spec.curriculum, "predict", False) or getattr(spec.batching.allocation, "predict", False))


def prompt_text(rows: Sequence[dict[str, Any]], row: int) -> str:
    """The text of a row that the policy is prompted with: its prompt, or all messages of its chat."""
    item = rows[row]
    if isinstance(prompt := item.get("prompt"), str):
        return prompt
    return "\n".join(str(message.get("content") or "") for message in item.get("messages", ()))
