"""Converts the chats of a file to our messages."""

from typing import Any

from trainer_core.datasets.fields import json_type
from trainer_core.datasets.json_text import read_json
from trainer_core.datasets.mapping.document import ChatPrompt, Role
from trainer_core.datasets.mapping.path import article

ROLES: dict[str, Role] = {
    "user": "user", "human": "user", "prompter": "user",
    "assistant": "assistant", "gpt": "assistant", "model": "assistant", "bot": "assistant", "chatgpt": "assistant",
    "system": "system", "developer": "system",
}  # fmt: skip
Message = dict[str, str]


def turns_of(value: Any, name: str) -> list[Any]:
    """The turns of a chat, parsed if they are JSON text. Raises ValueError."""
    if isinstance(value, str):
        try:
            value = read_json(value)
        except ValueError as error:
            raise ValueError(f"`{name}` {error}; it must be a chat.") from error
    if not isinstance(value, list) or not value:
        raise ValueError(f"`{name}` must be a list of turns, not {_found(value)}.")
    return value


def messages_of(turns: list[Any], name: str, prompt: ChatPrompt) -> tuple[list[Message], str | None]:
    """(messages up to the last one that is not from the model, what the model said after it).

    Raises:
        ValueError: a turn is invalid, or all turns are from the model.
    """
    messages = [_message(turn, place, name, prompt) for place, turn in enumerate(turns, 1)]
    reference = None
    while messages and messages[-1]["role"] == "assistant":
        reference = messages.pop()["content"]
    if not messages:
        raise ValueError(f"`{name}` has only turns of the model: there is no prompt.")
    return messages, reference


def _message(turn: Any, place: int, name: str, prompt: ChatPrompt) -> Message:
    if isinstance(turn, str):
        return {"role": "user" if place % 2 else "assistant", "content": turn}
    if not isinstance(turn, dict):
        raise ValueError(f"Turn {place} of `{name}` is {article(json_type(turn))}, neither an object nor text.")
    for key in (prompt.role, prompt.content):
        if key not in turn:
            raise ValueError(f"Turn {place} of `{name}` has no `{key[:80]}`.")
    said = turn[prompt.role]
    role = prompt.roles.get(said) or ROLES.get(said.lower()) if isinstance(said, str) else None
    if role is None:
        shown = f'"{said[:40]}"' if isinstance(said, str) else article(json_type(said))
        raise ValueError(
            f"Turn {place} of `{name}`: `{prompt.role[:80]}` is {shown}, which is not a role of the mapping."
        )
    return {"role": role, "content": _content(turn[prompt.content], place, name)}


def _content(value: Any, place: int, name: str) -> str:
    """Text, or text parts joined."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value:
        parts = [part.get("text") if isinstance(part, dict) else part for part in value]
        texts = [part for part in parts if isinstance(part, str)]
        if len(texts) == len(parts):
            return "".join(texts)
    raise ValueError(f"Turn {place} of `{name}` contains {article(json_type(value))}; it must be text.")


def _found(value: Any) -> str:
    return "an empty one" if isinstance(value, list) else article(json_type(value))
