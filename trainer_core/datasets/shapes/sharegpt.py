"""Chats in ShareGPT's form: turns with ``from`` and ``value``; the model's last turn is the reference.

The instruction of the system is a turn, or a text in a column of its own, as LLaMA-Factory and Axolotl write it.
"""

from typing import Any

from trainer_core.datasets.fields import with_columns, without
from trainer_core.datasets.shape import Mapped, Row, Shape

_ROLES = {"human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant", "system": "system"}
_COLUMNS = ("conversations", "conversation")
_SYSTEM = ("system", "system_prompt")


def _column(row: Row) -> str | None:
    for name in _COLUMNS:
        turns = row.get(name)
        if isinstance(turns, list) and turns and isinstance(turns[0], dict) and "from" in turns[0]:
            return name
    return None


def _convert(row: Row) -> Row:
    column = _column(row)
    if column is None:
        raise ValueError("The row has no `conversations`, as the rows before it have.")
    messages = [_message(turn, place) for place, turn in enumerate(row[column], 1)]
    reference = messages.pop()["content"] if messages[-1]["role"] == "assistant" else None
    if (system := _system(row)) is not None and not any(message["role"] == "system" for message in messages):
        messages.insert(0, {"role": "system", "content": system})
    return with_columns(without(row, column), messages=messages, reference=reference)


def _system(row: Row) -> str | None:
    texts = (row.get(name) for name in _SYSTEM)
    return next((text for text in texts if isinstance(text, str) and text.strip()), None)


def _message(turn: Any, place: int) -> dict[str, str]:
    if not isinstance(turn, dict) or not isinstance(turn.get("value"), str):
        raise ValueError(f"Turn {place} must be an object with `from` and `value`.")
    role = _ROLES.get(str(turn.get("from")))
    if role is None:
        raise ValueError(f"Turn {place}: `from` must be one of {', '.join(_ROLES)}.")
    return {"role": role, "content": turn["value"]}


SHAREGPT = Shape(
    name="sharegpt",
    title="ShareGPT",
    columns="`conversations` (turns with `from` and `value`)",
    mapping=(
        Mapped("messages", "`conversations` without the model's last turn, behind `system` or `system_prompt`"),
        Mapped("reference", "the model's last turn"),
    ),
    matches=lambda row: "messages" not in row and "prompt" not in row and _column(row) is not None,
    convert=_convert,
)
