"""Chats in ShareGPT's form: turns with ``from`` and ``value``; the model's last turn is the reference."""

from typing import Any

from trainer_core.datasets.fields import with_columns, without
from trainer_core.datasets.shape import Mapped, Row, Shape

_ROLES = {"human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant", "system": "system"}
_COLUMNS = ("conversations", "conversation")


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
    return with_columns(without(row, column), messages=messages, reference=reference)


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
        Mapped("messages", "`conversations` without the model's last turn"),
        Mapped("reference", "the model's last turn"),
    ),
    matches=lambda row: "messages" not in row and "prompt" not in row and _column(row) is not None,
    convert=_convert,
)
