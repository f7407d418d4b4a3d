"""Turns of the assistant, as the chat template writes them around what the policy says."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trainer_core.datasets.invisible import is_blank
from trainer_core.spec.data.prompt_format import PromptFormat
from worker.engine.tokenizer import PolicyTokenizer
from worker.errors import StartError

_SAID = "\ue000said\ue001"
"""Stands for the policy's turn when a template is asked what is around it."""


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A text, then tokens, which all teach or do not."""

    text: str
    teaches: bool
    special: bool = False
    """Whether the tokenizer adds its special tokens."""
    then: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class AssistantTurn:
    """Text and tokens that the policy writes around its completion."""

    head: str
    """Text with control tokens that the chat template writes before the message, such as a channel."""
    end: str
    """The end of the turn, up to the first end-of-sequence token, or else the first control token."""
    then: tuple[int, ...]
    """Tokens after ``end``."""


def turn_of(tokenizer: PolicyTokenizer, row: Mapping[str, Any], form: PromptFormat) -> AssistantTurn:
    """The turn around a completion of a presented row.

    A template that ends no turn with an end-of-sequence token has the policy's own behind it, since the engine stops at
    nothing else. A plain prompt has that token alone.
    """
    if "messages" not in row:
        return AssistantTurn("", "", tokenizer.eos[:1])
    said = {"role": "assistant", "content": _SAID}
    begun = tokenizer.rendered(row, form, begun=True)
    whole = tokenizer.rendered({**row, "messages": [*row["messages"], said]}, form, begun=False)
    before, found, after = whole.rpartition(_SAID)
    # A template may also write an empty thinking there, which the policy need not write.
    special = set(tokenizer.control.tokens) - tokenizer.control.tags
    head = before.removeprefix(begun) if before.startswith(begun) else ""
    head = head if any(token in head for token in special) else ""
    end, stops = _end(tokenizer, after) if found else ("", False)
    return AssistantTurn(head, end, () if stops else tokenizer.eos[:1])


def _end(tokenizer: PolicyTokenizer, after: str) -> tuple[str, bool]:
    """The end of the turn in what follows it, and whether the engine stops there."""
    stops = [tokenizer.token_text(number) for number in tokenizer.eos]
    for tokens, stopping in ((stops, True), (tokenizer.control.tokens, False)):
        ends = [after.index(token) + len(token) for token in tokens if token and token in after]
        if ends:
            return after[: min(ends)], stopping
    return "", False


def earlier_turns(
    tokenizer: PolicyTokenizer, row: Mapping[str, Any], form: PromptFormat, whole: str, turn: AssistantTurn
) -> tuple[list[TextPiece], list[str]]:
    """The prompt of a presented row in pieces, of which the assistant's turns teach; none if no turn does.

    The chat up to a turn must be the beginning of the whole. A template that leaves out the thinking of earlier turns,
    for example, writes a prompt that the policy has never continued.

    Args:
        tokenizer: the policy's.
        row: a presented row with messages.
        form: its source's format.
        whole: the text of its prompt.
        turn: what is around a completion of it.

    Returns:
        The pieces, and kinds of warnings.
    """
    messages = row["messages"]
    places = [place for place, message in enumerate(messages) if message["role"] == "assistant"]
    said = [place for place in places if not is_blank(messages[place]["content"])]
    warnings = ["empty_turn"] if len(said) < len(places) else []
    pieces: list[TextPiece] = []
    at = 0
    for place in said:
        try:
            before = tokenizer.rendered({**row, "messages": messages[:place]}, form, begun=True)
        except StartError:  # a template that refuses a chat without a user's message
            return [], [*warnings, "history"]
        content = messages[place]["content"]
        written = [f"{turn.head}{one}" for one in (content, content.strip())]
        found = next((one for one in written if whole.startswith(f"{before}{one}{turn.end}")), None)
        if found is None or len(before) < at:
            return [], [*warnings, "history"]
        pieces += [TextPiece(whole[at : len(before)], False), TextPiece(found, True), TextPiece(turn.end, True)]
        at = len(before) + len(found) + len(turn.end)
    return [*pieces, TextPiece(whole[at:], False)] if pieces else [], warnings
