"""Chats that the model ends: the chat up to its last message, and that message as text."""

from typing import Any

from trainer_core.datasets.fields import json_type
from trainer_core.datasets.shape import Row
from trainer_core.datasets.shapes.openai_rft import message_of


def is_answered(value: Any) -> bool:
    """Whether a value is a list of messages, the last of them the model's."""
    if not isinstance(value, list) or not value or not all(isinstance(one, dict) for one in value):
        return False
    return bool(value[-1].get("role") == "assistant")


def split(chat: Any, column: str) -> tuple[list[Any], dict[str, Any]]:
    """The messages before the model's last one, and that one. Raises ValueError.

    Args:
        chat: the value of the column.
        column: its name, for messages.
    """
    if not isinstance(chat, list) or not chat:
        raise ValueError(f"`{column}` must be a list of at least one message.")
    messages = [message_of(one) for one in chat]
    last = messages.pop()
    if not isinstance(last, dict) or last.get("role") != "assistant":
        raise ValueError(f"`{column}` must end with a message of the role assistant, as in the rows before it.")
    if messages and isinstance(messages[-1], dict) and messages[-1].get("role") == "assistant":
        raise ValueError(f"The last two messages of `{column}` are both the assistant's: join them.")
    if last.get("tool_calls") or last.get("function_call"):
        raise ValueError(
            f"The last message of `{column}` holds tool calls instead of text. Chats with tool calls are not taken."
        )
    if not isinstance(last.get("content"), str):
        raise ValueError(f"The last message of `{column}` must have a text, not {json_type(last.get('content'))}.")
    return messages, last


def written(column: str, message: dict[str, Any]) -> Row:
    """The column with the message's text. What else it holds, such as its reasoning, is kept beside it."""
    more = any(value is not None for name, value in message.items() if name not in ("role", "content"))
    return {column: message["content"], **({f"source_{column}": message} if more else {})}
