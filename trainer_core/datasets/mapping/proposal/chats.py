"""Guesses the column that holds a chat."""

from typing import Any

from trainer_core.datasets.mapping.chat import ROLES, messages_of, turns_of
from trainer_core.datasets.mapping.document import ChatPrompt
from trainer_core.datasets.mapping.path import written
from trainer_core.datasets.mapping.proposal.columns import FirstRows

_CHATS = (
    "messages", "conversations", "conversation", "prompt", "chat", "dialogue", "dialog", "turns", "thread", "data",
)  # fmt: skip
_KEYS = (
    ("role", "content"), ("from", "value"), ("role", "text"), ("speaker", "text"), ("role", "value"),
    ("author", "content"), ("role", "message"),
)  # fmt: skip


def guess_chat(columns: FirstRows) -> ChatPrompt | None:
    """The chat that all rows have, with the keys of its turns; None if it has an unknown role."""
    for name in columns.named(_CHATS):
        for role, content in _KEYS:
            prompt = ChatPrompt(kind="chat", path=written([name]), role=role, content=content)
            if columns.all((name,), lambda value, prompt=prompt: _is_chat(value, prompt)):  # type: ignore[misc]
                return prompt
    return None


def _is_chat(value: Any, prompt: ChatPrompt) -> bool:
    if not isinstance(value, list) or not value or not isinstance(value[0], dict):
        return False
    try:
        messages, _ = messages_of(turns_of(value, "chat"), "chat", prompt)
    except ValueError:
        return False
    return messages[-1]["role"] == "user" and all(turn[prompt.role].lower() in ROLES for turn in value)
