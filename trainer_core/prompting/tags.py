"""Thinking tags of a policy, found in its chat template and among its added tokens."""

from collections.abc import Collection
from dataclasses import dataclass

HARMONY = ("<|start|>", "<|channel|>", "<|message|>", "<|end|>")
"""Control tokens of the Harmony format (GPT-OSS), which uses channels instead of tags."""


@dataclass(frozen=True, slots=True)
class FoundThinking:
    """Tags around a policy's thinking: values for the fields of ``TaggedThinking``."""

    start: str
    end: str
    forced_end: str | None = None
    """Text that forces the end of thinking, if the closing tag alone is not enough."""
    answer_start: str | None = None
    """Text that opens the answer."""


PAIRS = (
    FoundThinking("<think>", "</think>"),
    FoundThinking("[THINK]", "[/THINK]"),
    FoundThinking("<seed:think>", "</seed:think>"),
    FoundThinking("◁think▷", "◁/think▷"),
    FoundThinking("<|begin_of_thought|>", "<|end_of_thought|>"),
    FoundThinking("<thinking>", "</thinking>"),
    FoundThinking("<thought>", "</thought>"),
)
"""Tags in use: Qwen3, DeepSeek-R1, SmolLM3, OLMo 3 and Granite; Magistral; Seed-OSS; Kimi; Sky-T1; others."""

_FINAL = "<|channel|>final<|message|>"
CHANNELS = FoundThinking("<|channel|>analysis<|message|>", "<|end|>", f"<|end|><|start|>assistant{_FINAL}", _FINAL)
"""Harmony's analysis channel; the answer is the message in the final channel."""


def find_thinking(template: str | None, tokens: Collection[str]) -> FoundThinking | None:
    """The tags between which a policy thinks; None if there is no sign of any.

    Args:
        template: the chat template's text.
        tokens: text of the tokenizer's added tokens, including the special ones. Tags that are tokens take precedence
            over tags that only the template names.
    """
    known = set(tokens)
    if known.issuperset(HARMONY):
        return CHANNELS
    for pair in PAIRS:
        if pair.start in known and pair.end in known:
            return pair
    for pair in PAIRS:
        if template is not None and pair.end in template:
            return pair
    return None
