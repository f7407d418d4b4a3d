"""Adversarial probes: outputs that solve nothing, made from a dataset row. A reward that pays for one can be hacked.

The kinds are those by which policies have been seen to cheat judges and verifiers: saying nothing, padding, repeating
the reference or the prompt, and the right form without content.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

ProbeKind = Literal["empty", "very_long", "gold_echoed", "prompt_repeated", "format_only"]

VERY_LONG_CHARACTERS = 16_000
CHARACTERS_PER_TOKEN = 4
"""A rough rule for English text: probes have no tokenizer."""
GOLD_FIELDS = ("answer", "solution", "canonical_solution", "code", "reference")
"""Fields in which rows of common datasets keep their gold answer; the first that is there counts."""
_FILLER = "Let me think about this carefully, step by step, and check each step twice before going on. "
_MEANING: dict[ProbeKind, str] = {
    "empty": "an empty output",
    "very_long": "a very long output without content",
    "gold_echoed": "the gold answer echoed, with nothing around it",
    "prompt_repeated": "the prompt repeated, and no answer",
    "format_only": "the right form with nothing in it",
}


@dataclass(frozen=True, slots=True)
class Probe:
    """One output that should earn little."""

    kind: ProbeKind
    output_text: str

    @property
    def completion_tokens(self) -> int:
        """An estimate from the number of characters."""
        return len(self.output_text) // CHARACTERS_PER_TOKEN


def probes(
    item: Mapping[str, Any], thinking_start: str, thinking_end: str, answer_start: str | None = None
) -> list[Probe]:
    """The probes of a dataset row; those that it has no text for are left out."""
    made = [
        Probe("empty", ""),
        Probe("very_long", (_FILLER * (VERY_LONG_CHARACTERS // len(_FILLER) + 1))[:VERY_LONG_CHARACTERS]),
        Probe("format_only", f"{thinking_start}\n{thinking_end}{answer_start or ''}\n\n\\boxed{{}}"),
    ]
    gold, prompt = gold_text(item), prompt_text(item)
    if gold:
        made.append(Probe("gold_echoed", gold))
    if prompt:
        made.append(Probe("prompt_repeated", "\n\n".join([prompt] * 3)))
    return made


def meaning(kind: ProbeKind) -> str:
    """The probe in words, to stand in a sentence."""
    return _MEANING[kind]


def gold_text(item: Mapping[str, Any]) -> str | None:
    """The row's gold answer as text: the first of several; None when the row has none."""
    for name in GOLD_FIELDS:
        value = item.get(name)
        if isinstance(value, list | tuple) and value:
            value = value[0]
        if isinstance(value, str | int | float) and not isinstance(value, bool) and str(value).strip():
            return str(value)
    return None


def prompt_text(item: Mapping[str, Any]) -> str | None:
    """The row's prompt: ``prompt``, or the last message that has text; None when there is none."""
    prompt = item.get("prompt")
    if isinstance(prompt, str) and prompt.strip():
        return prompt
    messages = item.get("messages")
    for message in reversed(messages) if isinstance(messages, list | tuple) else ():
        content = message.get("content") if isinstance(message, Mapping) else None
        if isinstance(content, str) and content.strip():
            return content
    return None
