"""Rules on values from branches: what a branch cannot know, and what would cut one short."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainer_core.spec.methods.branching import TokenSteps, VineAdvantage

if TYPE_CHECKING:
    from trainer_core.spec.run import RunSpec

Path = tuple[str | int, ...]


def branching(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """Rewards of completions that their branches do not have; steps that never end."""
    advantage = spec.advantage
    if not isinstance(advantage, VineAdvantage):
        return
    if spec.reward.length is not None:
        yield (
            ("reward", "length"),
            ("vine values states by rewards of branches, which have no group to compare lengths in"),
        )
    for index, chosen in enumerate(spec.filters):
        if chosen.stage == "rewards":
            yield ("filters", index), f"{chosen.type} changes rewards after the branches were valued by theirs"
    if spec.rollout.partial.over_provision > 1.0:
        where: Path = ("rollout", "partial", "over_provision")
        yield where, "a full batch would stop unfinished branches: vine starts only what it needs"
    steps, longest = advantage.steps, spec.rollout.max_tokens
    if isinstance(steps, TokenSteps) and steps.every >= longest:
        yield ("advantage", "steps", "every"), f"a step of {steps.every} tokens never ends: max_tokens is {longest}"
