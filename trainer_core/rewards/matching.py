"""Checks of what a run spec says about the parts of its reward against the definition of the reward. Torch-free."""

from collections.abc import Iterator

from trainer_core.rewards.definition import RewardDefinition
from trainer_core.rewards.graders.model.rubric import RubricGrader
from trainer_core.rewards.parts import LENGTH_PART, OUTLIER_PART, OVERLONG_PART
from trainer_core.spec.methods.advantage import GDPOAdvantage
from trainer_core.spec.methods.filters import LengthOutliersFilter
from trainer_core.spec.run import RunSpec

Path = tuple[str | int, ...]


def mismatches(spec: RunSpec, definition: RewardDefinition) -> Iterator[tuple[Path, str]]:
    """Parts that the spec names and the reward does not have: the path of the field, and a sentence."""
    yield from _watched(spec, definition)
    advantage = spec.advantage
    if not isinstance(advantage, GDPOAdvantage):
        return
    parts = part_names(spec, definition)
    partial = {one.name: one.row_field for one in definition.components if one.row_field is not None}
    for name in advantage.weights:
        if name not in parts:
            known = ", ".join(parts)
            yield ("advantage", "weights", name), f"the reward has no part {name!r}; its parts are {known}"
        elif name in partial:
            message = f"the part {name!r} is for rows that hold {partial[name]!r} alone: a batch may have none of them"
            yield ("advantage", "weights", name), message


def _watched(spec: RunSpec, definition: RewardDefinition) -> Iterator[tuple[Path, str]]:
    """The component that evolves, and the one that is held against length."""
    graders = {component.name: component.grader for component in definition.components}
    for field, watch in (("evolve", spec.reward.evolve), ("length_bias", spec.reward.length_bias)):
        if watch is not None and watch.component not in graders:
            known = ", ".join(graders)
            message = f"the reward has no component {watch.component!r}; its components are {known}"
            yield ("reward", field, "component"), message
    evolve = spec.reward.evolve
    grader = None if evolve is None else graders.get(evolve.component)
    if evolve is not None and grader is not None and not isinstance(grader, RubricGrader):
        message = f"{evolve.component!r} is graded by {grader.type}, and only a rubric evolves"
        yield ("reward", "evolve", "component"), message


def part_names(spec: RunSpec, definition: RewardDefinition) -> list[str]:
    """The parts that rewards under ``spec`` have: the definition's components, and the run's own shaping."""
    names = [component.name for component in definition.components]
    if spec.reward.overlong is not None:
        names.append(OVERLONG_PART)
    if spec.reward.length is not None:
        names.append(LENGTH_PART)
    if any(isinstance(chosen, LengthOutliersFilter) for chosen in spec.filters):
        names.append(OUTLIER_PART)
    return names
