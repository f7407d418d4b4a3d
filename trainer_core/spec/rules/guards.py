"""Rules on guards: what would watch nothing, and changes that could never be made."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import ValidationError

from trainer_core.metrics import find, placeholders
from trainer_core.metrics.data import BANDS, UNTRIED
from trainer_core.metrics.examples import PARTS, is_reported
from trainer_core.spec.operation.guards import Guard, HeldOutFalls, KnobChange
from trainer_core.spec.rules.stages import overruled
from trainer_core.spec.steerable import check_value, walk

if TYPE_CHECKING:
    from trainer_core.spec.run import RunSpec

Path = tuple[str | int, ...]


def guards(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """Guards with one name, on metrics that are never reported, or with changes that the spec refuses."""
    names = [guard.name for guard in spec.guards]
    for index, guard in enumerate(spec.guards):
        if guard.name and guard.name in names[:index]:
            yield ("guards", index, "name"), f"the guard name {guard.name!r} is used twice"
        fault = _unreported(spec, guard)
        if fault is not None:
            yield ("guards", index, "metric"), fault
        if guard.change is not None:
            yield from _change(spec, guard.change, ("guards", index, "change"))


def _unreported(spec: "RunSpec", guard: Guard) -> str | None:
    """Reason why the guard would watch nothing."""
    trained = {source.name for source in spec.data.sources}
    evaluated = {source.name for source in spec.evaluation.sources}
    held = placeholders(guard.metric)
    source, k, band = held.get("source"), held.get("k"), held.get("band")
    reported = evaluated if guard.metric.startswith("eval/") else trained
    entry, objective = find(guard.metric), spec.objective.type
    if entry is None:
        return f"no metric is called {guard.metric!r}"
    if not is_reported(entry.name, objective):
        return f"{guard.metric!r} is never reported by a run with objective.type = {objective}"
    if isinstance(guard, HeldOutFalls) and spec.examples is not None:
        return f"held_out_falls compares rewards, and a run with objective.type = {objective} has none"
    if "part" in held and held["part"] not in PARTS:
        return f"{guard.metric!r} is never reported: the parts are {', '.join(PARTS)}"
    if source is not None and source not in reported:
        return f"{guard.metric!r} is never reported: there is no such source"
    if band is not None and band not in (*BANDS, UNTRIED):
        return f"{guard.metric!r} is never reported: there is no such band"
    if guard.metric == "curriculum/stage" and not spec.data.stages:
        return "'curriculum/stage' is never reported: data.stages is empty"
    if k is not None and k not in map(str, spec.evaluation.pass_at):
        return f"{guard.metric!r} is never reported: evaluation.pass_at does not include it"
    return None


def _change(spec: "RunSpec", change: KnobChange, here: Path) -> Iterator[tuple[Path, str]]:
    """A target that cannot change, a factor on what is no number, a value that the field cannot have."""
    target = next((one for one in walk(spec) if one.path == change.target), None)
    if target is None or change.target in overruled(spec):
        yield (*here, "target"), f"{change.target} cannot change during the run"
        return
    if change.target == "guards":
        yield (*here, "target"), "only users can change guards"
        return
    if change.multiply is not None:
        if isinstance(target.value, bool) or not isinstance(target.value, int | float):
            yield (*here, "multiply"), f"{change.target} is {target.value!r}: there is no number to multiply"
        return
    try:
        check_value(spec, change.target, change.value)
    except ValidationError as error:
        yield (*here, "value"), f"{change.target}: {error.errors()[0]['msg']}"
