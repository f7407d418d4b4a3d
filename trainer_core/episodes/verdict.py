"""The reward of one answer, as the reward version gave it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Verdict:
    """The reward of one answer, with its parts and its failure. A correction replaces the whole verdict."""

    reward: float | None = None
    """None until it is computed, and permanently if the reward failed (see ``error``)."""
    parts: Mapping[str, float] = field(default_factory=dict)
    """Score of each component, and what shaping added."""
    explained: Mapping[str, Any] = field(default_factory=dict)
    """Weight and reason of each component, in the form of ``trainer_core.rewards.reasons.Explained``."""
    error: str | None = None
    forgiven: tuple[str, ...] = ()
    """Errors of parts that count as 0 because the reward definition says so."""
    stops: bool = False
    """Whether the failed part requests that the run stop."""
    shadow_rewards: Mapping[str, float] = field(default_factory=dict)
    """Reward that each shadow version would have given, by its reference, if it could be computed."""
    shadow_errors: Mapping[str, str] = field(default_factory=dict)
    """Reason why a shadow version's reward could not be computed, by its reference."""
    length_correction: float = 0.0
    """Correction that the length-bias watch has added to the reward. It does not affect whether the answer is right."""

    def with_part(self, name: str, amount: float) -> "Verdict":
        """The verdict after shaping: ``amount`` is added to the reward, and recorded as the part ``name``.

        Raises:
            ValueError: there is no reward to shape.
        """
        if self.reward is None:
            raise ValueError(f"there is no reward that {name} could change")
        return replace(self, reward=self.reward + amount, parts={**self.parts, name: amount})
