"""What a run spec says about the parts of its reward, held against the definition of the reward. Torch-free."""

from collections.abc import Iterator

from trainer_core.rewards.definition import RewardDefinition
from trainer_core.rewards.parts import LENGTH_PART, OUTLIER_PART, OVERLONG_PART
from trainer_core.spec.advantage import GDPOAdvantage
from trainer_core.spec.filters import LengthOutliersFilter
from trainer_core.spec.run import RunSpec

Path = tuple[str | int, ...]


def mismatches(spec: RunSpec, definition: RewardDefinition) -> Iterator[tuple[Path, str]]:
    """Parts that the spec names and the reward does not have: the path of the field, and a sentence."""
    advantage = spec.advantage
    if not isinstance(advantage, GDPOAdvantage):
        return
    parts = part_names(spec, definition)
    for name in advantage.weights:
        if name not in parts:
            known = ", ".join(parts)
            yield ("advantage", "weights", name), f"the reward has no part {name!r}; its parts are {known}"


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
