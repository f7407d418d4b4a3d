"""Whether the policy thinks before it answers, and how long it may."""

from typing import Annotated, Literal

from pydantic import Field

from trainer_core.spec.base import SpecModel, field
from trainer_core.spec.generation.per_prompt import PerPromptTokens


class NoThinking(SpecModel):
    """The completion is the answer."""

    type: Literal["none"] = "none"


class TaggedThinking(SpecModel):
    """The policy thinks between two tags; a budget forces the thinking to end. When the budget is spent, the forced end
    is written into the context and the policy continues with its answer. Forced tokens are not samples of the policy:
    they are excluded from the loss and the mismatch metrics.
    """

    type: Literal["tags"] = "tags"
    start: str = field("<think>", min_length=1, max_length=64)
    """Text that opens the thinking."""
    end: str = field("</think>", min_length=1, max_length=64)
    """Text that closes the thinking."""
    forced_end: str | None = field(None, max_length=2000)
    """Text written when the budget is spent; it must end with the closing tag, or with ``answer_start`` after it if
    there is one. Default: the closing tag alone."""
    answer_start: str | None = field(None, min_length=1, max_length=200)
    """Text that opens the answer, if the closing tag alone does not, such as that of Harmony's final channel (GPT-OSS),
    ``<|channel|>final<|message|>``. Text before it is not part of the answer. With a budget it needs ``forced_end`` or
    ``interruptions``, which write it."""
    interruptions: tuple[str, ...] = field((), max_length=64)
    """Budget forcing with phrases: one of them, drawn for each sample, is written when the budget is spent, so that the
    policy learns to end on any. Each must end as ``forced_end`` must. Source: ScaleRL (arXiv 2510.13786). Empty:
    ``forced_end``."""
    budget: int | None = field(None, ge=0, le=1_048_576, unit="tokens", steer="group_dispatch", widget="slider")
    """Most thinking tokens per completion; empty means no limit but the maximum length."""
    prompt_budget: PerPromptTokens | None = None
    """A separate budget for each prompt. ``budget`` remains the upper limit if both are given."""

    def ends(self, text: str) -> bool:
        """Whether ``text`` closes the thinking and leaves the policy at the beginning of its answer."""
        if self.answer_start is None:
            return text.endswith(self.end)
        return text.endswith(self.answer_start) and self.end in text.removesuffix(self.answer_start)

    @property
    def how_to_end(self) -> str:
        """Words for what ``ends`` asks."""
        closing = f"end with the closing tag {self.end!r}"
        return closing if self.answer_start is None else f"contain {self.end!r} and end with {self.answer_start!r}"


Thinking = Annotated[NoThinking | TaggedThinking, Field(discriminator="type")]
