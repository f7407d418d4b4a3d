"""Environments that are one Python file, called in the jail."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from trainer_core.rewards.graders.jail import Jail, JailError, Limits
from trainer_core.spec.generation.environment import PythonEnvironment
from worker.messages.episode import Message

ROLES = ("tool", "user")
"""Roles that an environment may speak in."""
MOST_CHARACTERS = 100_000
"""Longest answer of an environment."""
_ENDS = {
    "cpu": "took longer than its time-out",
    "wall": "took longer than its time-out",
    "memory": "used too much memory",
    "output": "printed too much",
}


class EnvironmentFault(Exception):
    """An environment failed. The text says how; the episode gets no reward."""


def respond(
    environment: PythonEnvironment, item: Mapping[str, Any], messages: Sequence[Message], jail: Jail
) -> list[Message]:
    """Messages with which the environment answers the policy; empty if the episode has ended.

    Raises:
        EnvironmentFault: it raised, took too long, or returned something else.
    """
    limits = Limits(wall_s=environment.timeout_s, memory_mb=environment.memory_mb)
    try:
        outcome = jail.respond(environment.source, dict(item), [dict(message) for message in messages], limits)
    except JailError as error:
        raise EnvironmentFault(f"the jail failed: {error}") from error
    if outcome.end != "exit":
        raise EnvironmentFault(f"respond {_ENDS[outcome.end]}")
    try:
        said = json.loads(outcome.result)
    except ValueError:
        trace = outcome.errors.decode(errors="replace").strip()[-2000:]
        raise EnvironmentFault(f"respond gave no answer\n{trace}".strip()) from None
    return _messages(said)


def _messages(said: Any) -> list[Message]:
    """``said`` as messages. Raises EnvironmentFault."""
    if said is None:
        return []
    found: list[Message] = []
    for one in said if isinstance(said, list) else [said]:
        message = {"role": "user", "content": one} if isinstance(one, str) else one
        if not isinstance(message, dict) or set(message) != {"role", "content"}:
            raise EnvironmentFault("respond returned something else than text or messages with role and content")
        if message["role"] not in ROLES or not isinstance(message["content"], str):
            raise EnvironmentFault("respond returned a message without text, or whose role is not tool or user")
        found.append(message)
    if sum(len(message["content"]) for message in found) > MOST_CHARACTERS:
        raise EnvironmentFault(f"respond returned more than {MOST_CHARACTERS:,} characters")
    return found
