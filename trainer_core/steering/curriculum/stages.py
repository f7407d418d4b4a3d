"""Stages of the data: which one the run is in, and when its gate opens."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from trainer_core.spec.data.stages import LengthGate, MeasuredGate, PassRateGate, RewardGate, Stage, StepsGate
from trainer_core.spec.run import RunSpec
from trainer_core.steering.curriculum.outcome import GroupOutcome


@dataclass(frozen=True, slots=True)
class StageBegun:
    """The beginning of a stage."""

    number: int
    """Position of the stage in the spec, from 1."""
    name: str
    step: int
    """First step whose prompts are drawn in it."""
    why: str
    """Reason why the previous stage ended, as a sentence; empty for the first stage."""
    measure: str | None = None
    """Measure of the previous gate; None if that gate counts steps, and for the first stage."""
    value: float | None = None
    """Mean at which the gate opened, or despite which its stage was over; None if nothing was known."""


@dataclass(slots=True)
class Sums:
    """Sums over groups, from which a gate's means are computed."""

    right: int = 0
    graded: int = 0
    reward: float = 0.0
    completions: int = 0
    tokens: int = 0

    def add(self, other: "Sums | GroupOutcome") -> None:
        """Add the sums of other groups."""
        for name in _SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))


_SUMS = [one.name for one in fields(Sums)]
Window = deque[dict[str, Sums]]


class StageKeeper:
    """Tracks the current stage. A new one begins only with a step, so that all prompts of a step belong to the same
    stage.

    A gate is evaluated when prompts are first drawn for a step. Its measure is known up to the last collected step,
    which is some steps earlier if generation runs ahead. The steps of a stage are counted by the steps that prompts
    were drawn for.
    """

    def __init__(self, spec: RunSpec) -> None:
        self._spec = spec
        self._begun: list[StageBegun] = []
        self._drawn_for = 0
        """Last step for which prompts were drawn."""
        self._window: Window = deque()
        """Sums of each step in the stage, by source; as many steps as the gate looks at, oldest first."""
        self._open: dict[str, Sums] = {}
        """Sums of the groups that have come back since the last step was collected."""

    @property
    def present(self) -> Stage | None:
        """The stage that prompts are drawn in; None for a run without stages. Before the first draw, it is the first
        one."""
        stages = self._spec.data.stages
        if not stages:
            return None
        return stages[self._begun[-1].number - 1 if self._begun else 0]

    def applied(self, spec: RunSpec) -> RunSpec:
        """``spec`` with its weights and band replaced by those of the current stage."""
        return in_stage(spec, self.present)

    def enter(self, step: int) -> StageBegun | None:
        """Evaluate the gate before prompts are drawn for ``step``. Returns the stage that begins with it, if any."""
        if not self._spec.data.stages or step <= self._drawn_for:
            return None
        self._drawn_for = step
        if not self._begun:
            return self._begin(0, step)
        present, last = self.present, self._begun[-1]
        assert present is not None
        gate, passed = present.gate, step - last.step
        match gate:
            case None:
                return None
            case StepsGate():
                done = passed >= gate.steps
                return self._begin(last.number, step, f"{over(passed)}.") if done else None
        value = mean(gate, self._window)
        why = _reason(gate, passed, value, asked=len(self._window) >= gate.window)
        return None if why is None else self._begin(last.number, step, why, gate.type, value)

    def observe(self, group: GroupOutcome) -> None:
        """Count a returned group, unless an earlier stage drew it."""
        if self._begun and group.step >= self._begun[-1].step:
            self._open.setdefault(group.source, Sums()).add(group)

    def end_step(self, step: int) -> None:
        """Close ``step``, which has been collected: the groups returned since the previous step are its groups."""
        sums, self._open = self._open, {}
        present = self.present
        if present is None or not self._begun or step < self._begun[-1].step:
            return
        self._window.append(sums)
        self._cut()

    def number(self, step: int) -> int | None:
        """Number of the stage, from 1, that prompts for ``step`` were drawn in; None without stages."""
        return next((stage.number for stage in reversed(self._begun) if stage.step <= step), None)

    def update_spec(self, spec: RunSpec) -> None:
        """Continue under other weights, bands and thresholds; the stages themselves stay."""
        self._spec = spec

    def state(self) -> dict[str, Any]:
        """State for the checkpoint."""
        return {
            "begun": [asdict(stage) for stage in self._begun],
            "drawn_for": self._drawn_for,
            "window": [_dumped(sums) for sums in self._window],
            "open": _dumped(self._open),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Restore from a checkpoint.

        Raises:
            ValueError: its stage is not in the spec; nothing has changed.
        """
        numbers = {stage.name: number for number, stage in enumerate(self._spec.data.stages, 1)}
        begun = [StageBegun(**stage) for stage in state["begun"]]
        for stage in begun:
            if numbers.get(stage.name) != stage.number:
                raise ValueError(f"the checkpoint's stage {stage.number}, {stage.name!r}, is not in the run")
        self._begun, self._drawn_for = begun, state["drawn_for"]
        self._window = deque(_loaded(sums) for sums in state["window"])
        self._open = _loaded(state["open"])

    def _begin(
        self, index: int, step: int, why: str = "", measure: str | None = None, value: float | None = None
    ) -> StageBegun:
        begun = StageBegun(index + 1, self._spec.data.stages[index].name, step, why, measure, value)
        self._begun.append(begun)
        self._window.clear()
        self._open = {}
        return begun

    def _cut(self) -> None:
        """Drop steps beyond those that the gate looks at."""
        gate = None if self.present is None else self.present.gate
        kept = gate.window if isinstance(gate, MeasuredGate) else 0
        while len(self._window) > kept:
            self._window.popleft()


def stage_named(spec: RunSpec, name: str | None) -> Stage | None:
    """The stage of this name; None if the spec has no such stage."""
    return next((stage for stage in spec.data.stages if stage.name == name), None)


def in_stage(spec: RunSpec, stage: Stage | None) -> RunSpec:
    """``spec`` with the values of ``stage``: the weights of sources and the edges of the curriculum's band."""
    if stage is None:
        return spec
    data, curriculum = spec.data, spec.curriculum
    if stage.sources:
        weights = {source.name: source.weight for source in stage.sources}
        sources = tuple(one.model_copy(update={"weight": weights.get(one.name, 0.0)}) for one in data.sources)
        data = data.model_copy(update={"sources": sources})
    if stage.band is not None:
        edges = {"min_pass_rate": stage.band.min_pass_rate, "max_pass_rate": stage.band.max_pass_rate}
        curriculum = curriculum.model_copy(update=edges)
    return spec.model_copy(update={"data": data, "curriculum": curriculum})


def mean(gate: MeasuredGate, window: Sequence[Mapping[str, Sums]]) -> float | None:
    """The mean of what ``gate`` measures over the groups of ``window``; None if there are none."""
    total = Sums()
    for sums in window:
        for source, found in sums.items():
            if not gate.sources or source in gate.sources:
                total.add(found)
    match gate:
        case RewardGate():
            return total.reward / total.graded if total.graded else None
        case PassRateGate():
            return total.right / total.graded if total.graded else None
        case LengthGate():
            return total.tokens / total.completions if total.completions else None
    raise TypeError(f"{gate!r} measures nothing")


def _reason(
    gate: RewardGate | PassRateGate | LengthGate, passed: int, value: float | None, *, asked: bool
) -> str | None:
    """Reason why a stage is over after ``passed`` steps; None if it is not. ``asked``: the window is full."""
    measure, wanted = _MEASURES[gate.type], f"{gate.when.replace('_', ' ')} {gate.threshold:g}"
    if asked and value is not None and passed >= gate.min_steps:
        opens = value >= gate.threshold if gate.when == "at_least" else value <= gate.threshold
        if opens:
            return f"{measure} over {steps(gate.window)} was {value:.4g}: {wanted}, as the gate requires."
    if passed < gate.max_steps:
        return None
    was = "was unknown" if value is None else f"was {value:.4g}"
    return f"{over(gate.max_steps)}, the gate's maximum: {measure.lower()} {was}, not {wanted}."


def steps(count: int) -> str:
    """A number of steps in words."""
    return "1 step" if count == 1 else f"{count} steps"


def over(count: int) -> str:
    """A phrase that says that ``count`` steps are over."""
    return f"{steps(count)} {'is' if count == 1 else 'are'} over"


_MEASURES = {
    "reward": "The mean reward",
    "pass_rate": "The pass rate",  # nosec B105  (not a secret)
    "response_length": "The mean length of completions",
}


def _dumped(sums: Mapping[str, Sums]) -> dict[str, dict[str, Any]]:
    return {source: asdict(found) for source, found in sums.items()}


def _loaded(sums: Mapping[str, Mapping[str, Any]]) -> dict[str, Sums]:
    return {source: Sums(**found) for source, found in sums.items()}
