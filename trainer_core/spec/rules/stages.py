"""Rules on the stages of the data: what contradicts itself, and what would never come."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainer_core.spec.data.curriculum import DifficultyBandCurriculum, GoldilocksCurriculum
from trainer_core.spec.data.stages import Gate, MeasuredGate, StepsGate

if TYPE_CHECKING:
    from trainer_core.spec.data.stages import Stage
    from trainer_core.spec.run import RunSpec

Path = tuple[str | int, ...]


def stages(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """Stages without an end or an order, of unknown sources or of none, or after the end of the run."""
    chosen = spec.data.stages
    if not chosen:
        return
    if spec.data.transition is not None:
        yield ("data", "stages"), "stages and a transition would both move the weights: choose one"
    names = [stage.name for stage in chosen]
    for index, stage in enumerate(chosen):
        here: Path = ("data", "stages", index)
        if stage.name in names[:index]:
            yield (*here, "name"), f"the stage name {stage.name!r} is used twice"
        last = index == len(chosen) - 1
        if last and stage.gate is not None:
            yield (*here, "gate"), "the last stage needs no gate: nothing comes after it"
        if not last and stage.gate is None:
            yield (*here, "gate"), f"without a gate the stage {stage.name!r} never ends, and later stages never begin"
        yield from _mixture(spec, stage, here)
        if stage.band is not None and not isinstance(spec.curriculum, DifficultyBandCurriculum | GoldilocksCurriculum):
            yield (*here, "band"), f"a band needs a curriculum that has one: {spec.curriculum.type} has none"
    yield from _left_out(spec)
    yield from _too_late(spec)


def _mixture(spec: "RunSpec", stage: "Stage", here: Path) -> Iterator[tuple[Path, str]]:
    weights = {source.name: source.weight for source in spec.data.sources}
    named = [source.name for source in stage.sources]
    for index, name in enumerate(named):
        if name not in weights:
            yield (*here, "sources", index, "name"), f"there is no source {name!r}"
        if name in named[:index]:
            yield (*here, "sources", index, "name"), f"the source {name!r} is named twice"
    if stage.sources and not any(source.weight > 0 for source in stage.sources):
        yield (*here, "sources"), f"at least one source needs a weight above zero in the stage {stage.name!r}"
    drawn = {source.name: source.weight for source in stage.sources} or weights
    if isinstance(stage.gate, MeasuredGate):
        for index, name in enumerate(stage.gate.sources):
            where = (*here, "gate", "sources", index)
            if name not in weights:
                yield where, f"there is no source {name!r}"
            elif not drawn.get(name):
                yield where, f"the stage {stage.name!r} draws nothing from {name!r}: the gate would never open"


def _left_out(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    if not all(stage.sources for stage in spec.data.stages):
        return
    named = {source.name for stage in spec.data.stages for source in stage.sources}
    for index, source in enumerate(spec.data.sources):
        if source.name not in named:
            yield ("data", "sources", index), f"no stage names the source {source.name!r}: it would never be drawn"


def _too_late(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """The first stage that the run ends before, however early its gates open."""
    begins = 1
    for index, stage in enumerate(spec.data.stages[:-1]):
        begins += shortest(stage.gate)
        if begins > spec.schedule.steps:
            late = spec.data.stages[index + 1].name
            yield (
                ("data", "stages", index, "gate"),
                f"the stage {late!r} begins at step {begins} or later, and the run ends at step {spec.schedule.steps}",
            )
            return


def shortest(gate: Gate | None) -> int:
    """Steps that a stage lasts at least, by its gate."""
    if gate is None:
        return 0
    return gate.steps if isinstance(gate, StepsGate) else max(gate.min_steps, gate.window)


def overruled(spec: "RunSpec") -> dict[str, str]:
    """Paths of steerable fields that every stage replaces, each with the fields to steer in its place."""
    found: dict[str, str] = {}
    if spec.data.stages and all(stage.sources for stage in spec.data.stages):
        for source in spec.data.sources:
            found[f"data.sources.{source.name}.weight"] = f"data.stages.<stage>.sources.{source.name}.weight"
    if spec.data.stages and all(stage.band is not None for stage in spec.data.stages):
        for edge in ("min_pass_rate", "max_pass_rate"):
            found[f"curriculum.{edge}"] = f"data.stages.<stage>.band.{edge}"
    return found
