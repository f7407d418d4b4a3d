"""Reward that a run maximises, and what happens when it cannot be computed."""

from typing import Annotated, Literal

from pydantic import Field

from trainer_core.spec.base import SpecModel, field
from trainer_core.spec.rewards.length_shaping import LengthShaping
from trainer_core.spec.rewards.watch import LengthBias, RubricEvolution

REF = r"^[a-z0-9][a-z0-9_\-]{0,62}@[0-9]+$"
RewardVersion = Annotated[str, Field(pattern=REF, json_schema_extra={"widget": "reward"})]


class OverlongShaping(SpecModel):
    """DAPO soft overlong punishment: zero up to max_tokens − buffer, then linear down to −factor at max_tokens.

    Source: DAPO (arXiv 2503.14476), eq. 13.
    """

    buffer: int = field(ge=1, unit="tokens")
    """Length of the ramp before the maximum length."""
    factor: float = field(1.0, gt=0.0, le=100.0)
    """Largest penalty, reached at the maximum length."""


class Reward(SpecModel):
    """The reward of the run."""

    definition: str = field(widget="reward", pattern=REF, steer="group_dispatch")
    """Reward version as ``slug@version``. A control promotes another one; a group keeps the one of its dispatch."""
    shadow: tuple[RewardVersion, ...] = field((), max_length=4, steer="group_dispatch")
    """Versions that score every rollout beside it, for comparison: nothing is trained on them. The version that trains
    may stand here as well, as it does after its promotion, and is not scored twice."""
    overlong: OverlongShaping | None = None
    """Soft penalty for answers near the maximum length."""
    length: LengthShaping | None = None
    """What the length of a completion, within its group, adds to or subtracts from its reward."""
    evolve: RubricEvolution | None = None
    """Have new rubric items proposed during the run."""
    length_bias: LengthBias | None = None
    """Watch whether a judge pays for length."""
    on_error: Literal["exclude", "zero", "stop"] = "exclude"
    """A trajectory whose reward failed is excluded from the loss, scored zero, or pauses the run immediately."""
    max_error_share: float = field(0.2, ge=0.0, le=1.0, unit="share")
    """The run pauses with the reason when more than this share of a step's rewards fail."""
    timeout_seconds: float = field(10.0, gt=0.0, le=600.0, unit="s")
    """Longest time for one trajectory's reward; after it, the reward is an error. Programs under test have their own
    limits, which do not count here: one that never ends scores 0."""
