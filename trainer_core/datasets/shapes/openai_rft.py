"""Rows for OpenAI's reinforcement fine-tuning: a chat with developer messages, and a reference of any kind."""

from typing import Any

from trainer_core.datasets.fields import is_gold, list_in, with_columns
from trainer_core.datasets.shape import Mapped, Row, Shape


def _matches(row: Row) -> bool:
    messages = row.get("messages")
    if not isinstance(messages, list) or "prompt" in row:
        return False
    return "reference_answer" in row or any(
        isinstance(one, dict) and (one.get("role") == "developer" or isinstance(one.get("content"), list))
        for one in messages
    )


def _convert(row: Row) -> Row:
    made: Row = {"messages": [message_of(one) for one in list_in(row, "messages")]}
    reference = row.get("reference_answer")
    if "answer" not in row and (isinstance(reference, str | int | float) or is_gold(reference)):
        made["answer"] = reference
    return with_columns(row, **made)


def message_of(message: Any) -> Any:
    """The message with a developer role changed to system, and its parts as one text; other faults are reported
    later."""
    if not isinstance(message, dict):
        return message
    made = dict(message)
    if made.get("role") == "developer":
        made["role"] = "system"
    parts = made.get("content")
    if isinstance(parts, list):
        if not all(isinstance(part, dict) and isinstance(part.get("text"), str) for part in parts):
            raise ValueError("A message may contain only text parts; images, sound and files are not accepted.")
        made["content"] = "".join(part["text"] for part in parts)
    return made


OPENAI_RFT = Shape(
    name="openai_rft",
    title="OpenAI RFT",
    columns="`messages` with `reference_answer`, developer messages or parts",
    mapping=(
        Mapped("messages", "`messages` with developers as system, and parts of text joined"),
        Mapped("answer", "`reference_answer`, if it is text, a number or a list of them and there is no `answer`"),
    ),
    matches=_matches,
    convert=_convert,
)
