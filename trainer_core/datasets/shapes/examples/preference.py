"""Pairs of completions: TRL's preference rows with and without a prompt, UltraFeedback's (Cui et al., arXiv
2310.01377) as Zephyr was trained on, and HH-RLHF's, which are refused."""

from typing import Any

from trainer_core.datasets.fields import asked, is_chat, list_in, renamed_to_source, text_of, with_columns, without
from trainer_core.datasets.shape import Mapped, Row, Shape
from trainer_core.datasets.shapes.examples.chats import is_answered, split, written
from trainer_core.datasets.shapes.openai_rft import message_of


def _matches(row: Row) -> bool:
    chosen, rejected = row.get("chosen"), row.get("rejected")
    if isinstance(chosen, str) and isinstance(rejected, str):
        return row.keys() == {"chosen", "rejected"}
    return is_answered(chosen) and is_answered(rejected)


def _convert(row: Row) -> Row:
    if isinstance(row.get("chosen"), str) and isinstance(row.get("rejected"), str) and "prompt" not in row:
        raise ValueError(
            "The columns `chosen`, `rejected` are texts without a `prompt`, and where the prompt ends cannot be known: "
            "put what both have in common into `prompt`, or write both as chats."
        )
    before, better = split(row.get("chosen"), "chosen")
    other, worse = split(row.get("rejected"), "rejected")
    if before != other:
        raise ValueError("`chosen` and `rejected` differ before their last message: they must answer the same chat.")
    made: Row = {"messages": _asked(row, before), **written("chosen", better), **written("rejected", worse)}
    rest = without(row, "prompt", "messages", "chosen", "rejected")
    if before and isinstance(row.get("prompt"), str):
        made["source_prompt"] = row["prompt"]
    if is_answered(row.get("messages")):  # UltraFeedback has the better chat once more
        rest = renamed_to_source(rest, "reference")
        made["reference"] = split(row["messages"], "messages")[1]["content"]
    return with_columns(rest, **made)


def _asked(row: Row, before: list[Any]) -> list[Any]:
    """The chat that both completions answer: ``before`` them, else the prompt, which must be its beginning."""
    prompt = row.get("prompt")
    if is_chat(prompt):
        chat = [message_of(one) for one in list_in(row, "prompt")]
        if before and before[: len(chat)] != chat:
            raise ValueError("`prompt` is not the beginning of `chosen` and `rejected`.")
        return before or chat
    if before:
        return before
    if is_chat(row.get("messages")) and not is_answered(row.get("messages")):
        return [message_of(one) for one in list_in(row, "messages")]
    if prompt is None:
        raise ValueError("`chosen` and `rejected` have nothing in common: there is no prompt.")
    return asked(text_of(row, "prompt"))


PREFERENCE = Shape(
    name="preference",
    title="Preferences (TRL, UltraFeedback)",
    columns="`chosen` and `rejected` (chats that the model ends), perhaps with `prompt`",
    mapping=(
        Mapped("messages", "what `chosen` and `rejected` have in common, else `prompt`"),
        Mapped("chosen", "the last message of `chosen`"),
        Mapped("rejected", "the last message of `rejected`"),
        Mapped("source_chosen", "the last message of `chosen` whole, if it holds more than text"),
        Mapped("source_rejected", "the last message of `rejected` whole, if it holds more than text"),
        Mapped("source_prompt", "`prompt`, if it is text and both are whole chats"),
        Mapped("reference", "the model's last message of `messages`"),
        Mapped("source_reference", "`reference`, if the file has one and a chat in `messages`"),
    ),
    matches=_matches,
    convert=_convert,
)
