"""Rows of a dataset. Each is one JSON object with a prompt, optionally an answer, and anything else graders need."""

import json
from dataclasses import dataclass
from typing import Any

from trainer_core.datasets.fields import json_type
from trainer_core.datasets.invisible import is_blank

ROLES = ("system", "user", "assistant")
TOOL_ROLES = ("tool", "function")
"""Roles of messages that hold the results of tool calls, in OpenAI's format."""
_NO_TOOL_CALLS = "Chats with tool calls are not taken: end the chat with the user's message before the first call."


@dataclass(frozen=True, slots=True)
class Row:
    """A checked row."""

    data: dict[str, Any]
    prompt: str
    """The prompt, or the text of the last message."""
    answer: str | None
    """The answer as text. A list of accepted answers is JSON text here."""


def check_row(data: Any) -> Row:
    """The checked row, with the fields that previews show.

    Raises:
        ValueError: the row is invalid. The message says why.
    """
    if not isinstance(data, dict):
        raise ValueError(f"A row must be a JSON object, not {json_type(data)}.")
    if ("prompt" in data) == ("messages" in data):
        found = "not both." if "prompt" in data else f"and this one has {_columns(data)}."
        raise ValueError(f"A row needs either `prompt` or `messages`, {found}")
    prompt = _prompt(data["prompt"]) if "prompt" in data else _messages(data["messages"])
    return Row(data, prompt, _answer(data.get("answer")))


def _columns(data: dict[str, Any]) -> str:
    names = [f"`{name[:60]}`" for name in list(data)[:20]]
    return ", ".join(names) + (" and more" if len(data) > len(names) else "") or "no column"


def _prompt(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"`prompt` must be a string, not {json_type(value)}.")
    if is_blank(value):
        raise ValueError(f"`prompt` {_empty(value)}.")
    return value


def _messages(value: Any) -> str:
    if not isinstance(value, list) or not value:
        raise ValueError("`messages` must be a list of at least one message.")
    for position, message in enumerate(value, 1):
        if not isinstance(message, dict):
            raise ValueError(f"Message {position} must be an object with `role` and `content`.")
        if message.get("role") in TOOL_ROLES:
            raise ValueError(f"Message {position} is the result of a tool call. {_NO_TOOL_CALLS}")
        if message.get("role") not in ROLES:
            raise ValueError(f"Message {position}: `role` must be one of {', '.join(ROLES)}.")
        if not isinstance(message.get("content"), str):
            if message.get("tool_calls") or message.get("function_call"):
                raise ValueError(f"Message {position} holds tool calls instead of text. {_NO_TOOL_CALLS}")
            raise ValueError(f"Message {position}: `content` must be a string.")
    if value[-1]["role"] != "user":
        raise ValueError("`messages` must end with a message of the role user.")
    if is_blank(value[-1]["content"]):
        raise ValueError(f"The last message {_empty(value[-1]['content'])}.")
    return value[-1]["content"]


def _empty(text: str) -> str:
    return "holds only characters that cannot be seen" if text.strip() else "is empty"


def _answer(value: Any) -> str | None:
    match value:
        case None | str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case list() if not any(isinstance(one, list | dict) or one is None for one in value):
            return json.dumps(value, ensure_ascii=False)
    raise ValueError(
        f"`answer` must be a string, a number, a boolean or a list of them, not {json_type(value)}."
        if not isinstance(value, list)
        else "`answer` may be a list of accepted answers, each a string, a number or a boolean."
    )
