"""Form in which the prompts of a source are put to the policy."""

from typing import Literal

from pydantic import model_validator

from trainer_core.spec.base import SpecModel, field


class PromptFormat(SpecModel):
    """How a source's rows become prompts, in training and in evaluations. Rewards see the unchanged rows."""

    chat: bool = False
    """Send a plain ``prompt`` as the user's message of a chat, through the policy's own template. Rows with
    ``messages`` are chats already."""
    system: str | None = field(None, min_length=1, max_length=20_000)
    """System message before the others. A row with its own keeps it. Needs ``chat``."""
    suffix: str = field("", max_length=20_000)
    """Text after each prompt, or after a chat's last message, such as the form of the answer."""
    thinking: bool | None = None
    """Passed to templates that have a switch for thinking (``enable_thinking``, ``thinking``). Empty: their default."""
    effort: Literal["low", "medium", "high"] | None = None
    """Passed to templates that have ``reasoning_effort``. Empty: their default."""
    control_tokens: Literal["text", "tokens"] = "text"
    """Text in a row that looks like a control token, such as ``<|im_end|>``, is encoded as plain text, and the run
    reports it at its start, so a row cannot end its message and speak for the system. ``tokens`` encodes it as control
    tokens, for rows that a template was already applied to. (Until November 2026 this was the only behaviour.)"""

    @model_validator(mode="after")
    def _has_a_chat(self) -> "PromptFormat":
        if self.system is not None and not self.chat:
            raise ValueError("a system message needs a chat: set chat to true")
        return self


PLAIN = PromptFormat()
"""Rows as they stand."""
