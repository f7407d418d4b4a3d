"""Whether the policy thinks before it answers, and how long it may."""

from typing import Annotated, Literal

from pydantic import Field

from trainer_core.spec.base import SpecModel, field
from trainer_core.spec.generation.per_prompt import PerPromptTokens


class NoThinking(SpecModel):
    """The completion is the answer."""

    type: Literal["none"] = "none"


class TaggedThinking(SpecModel):
    """The policy thinks between two tags; a budget ends the thinking by force.

    When the budget is spent, the forced end is written into the context and the policy goes on with its answer. Forced
    tokens are not samples of the policy: they take no part in the loss or in the mismatch metrics.
    """

    type: Literal["tags"] = "tags"
    start: str = field("<think>", min_length=1, max_length=64)
    """Text that opens the thinking."""
    end: str = field("</think>", min_length=1, max_length=64)
    """Text that closes the thinking."""
    forced_end: str | None = field(None, max_length=2000)
    """Text written when the budget is spent; it must finish with the closing tag. Default: the closing tag alone."""
    interruptions: tuple[str, ...] = field((), max_length=64)
    """Budget forcing with phrases: one of them, drawn for each sample, is written when the budget is spent, so that the
    policy learns to end on any. Each must finish with the closing tag. Source: ScaleRL (arXiv 2510.13786). Empty:
    ``forced_end``."""
    budget: int | None = field(None, ge=0, le=1_048_576, unit="tokens", steer="group_dispatch", widget="slider")
    """Most thinking tokens per completion; empty means no limit but the maximum length."""
    prompt_budget: PerPromptTokens | None = None
    """A budget of each prompt's own. ``budget`` stays the upper limit where both are given."""


Thinking = Annotated[NoThinking | TaggedThinking, Field(discriminator="type")]
