"""Episodes of several turns on their way between the router and a rollout worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from trainer_core.episodes import Turn
from trainer_core.spec.data.prompt_format import PLAIN, PromptFormat
from trainer_core.spec.generation.environment import PythonEnvironment

Message = Mapping[str, str]
"""``role`` and ``content``."""


@dataclass(frozen=True, slots=True)
class EpisodeTask:
    """The environment of a group's samples, and the row that it sees."""

    environment: PythonEnvironment
    item: Mapping[str, Any]
    """The dataset row, whose prompt or messages open the conversation."""
    form: PromptFormat = PLAIN
    """Format in which the source presents the row."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One sample's conversation after its prompt."""

    turns: tuple[Turn, ...] = field(default=(Turn("policy", 0),))
    messages: tuple[Message, ...] = ()
    """Messages after the prompt's, without the policy's current turn."""
    fault: str | None = None
    """Reason why the environment failed, if it did."""
    waiting: bool = False
    """Whether the policy's turn has ended, and the environment has not answered yet."""

    @property
    def policy_turns(self) -> int:
        """Turns of the policy so far, the current one included."""
        return sum(turn.author == "policy" for turn in self.turns)
