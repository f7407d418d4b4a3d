"""Form in which the prompts of a source are put to the policy."""

from typing import Literal

from pydantic import model_validator

from trainer_core.spec.base import SpecModel, field


class PromptFormat(SpecModel):
    """Form in which a source's rows become prompts, in training and in evaluations alike. Rewards see the bare rows."""

    chat: bool = False
    """Put a plain ``prompt`` to the policy as the user's message of a chat, through the policy's own template. Rows
    with ``messages`` are chats already."""
    system: str | None = field(None, min_length=1, max_length=20_000)
    """System message before the others. A row that brings one keeps its own. Needs ``chat``."""
    suffix: str = field("", max_length=20_000)
    """Text behind each prompt, or behind a chat's last message: such as what form the answer shall have."""
    thinking: bool | None = None
    """Told to templates that know a switch for thinking (``enable_thinking``, ``thinking``). Empty: their default."""
    effort: Literal["low", "medium", "high"] | None = None
    """Told to templates that know ``reasoning_effort``. Empty: their default."""
    control_tokens: Literal["text", "tokens"] = "text"
    """Text in a row that looks like a control token, such as ``<|im_end|>``, is encoded as the text that it is, and the
    run's start tells where; so a row cannot end its message and speak for the system. ``tokens`` makes control tokens
    of it, for rows that a template has been applied to already. (Up to November 2026 it was always that.)"""

    @model_validator(mode="after")
    def _has_a_chat(self) -> "PromptFormat":
        if self.system is not None and not self.chat:
            raise ValueError("a system message needs a chat: set chat to true")
        return self


PLAIN = PromptFormat()
"""Rows as they stand."""
