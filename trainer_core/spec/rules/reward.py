"""Rules of a run's reward. Those that need its definition are checked in ``rewards/matching.py``."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainer_core.spec.run import RunSpec

Path = tuple[str | int, ...]


def shadows(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """A shadow that stands there twice says nothing more."""
    for index, ref in enumerate(spec.reward.shadow):
        if ref in spec.reward.shadow[:index]:
            yield ("reward", "shadow", index), f"{ref} is already a shadow"


def evolution(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """Contrasts need two rollouts of one prompt, and no more prompts than there are."""
    evolve = spec.reward.evolve
    if evolve is None:
        return
    if spec.rollout.group_size == 1:
        yield (
            ("reward", "evolve"),
            ("the best and the worst rollout of a prompt are contrasted: a group needs at least two"),
        )
    if evolve.prompts_per_step > spec.schedule.prompts_per_step:
        yield (
            ("reward", "evolve", "prompts_per_step"),
            f"a step has {spec.schedule.prompts_per_step} prompts: {evolve.prompts_per_step} cannot be contrasted",
        )
