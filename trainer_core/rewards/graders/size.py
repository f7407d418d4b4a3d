"""Size of a definition, counted before anything in it is read: each grader costs time to read, check and store."""

from collections.abc import Iterator, Mapping
from typing import Any

MOST_GRADERS = 512
"""Graders in one definition, those inside others included. Component and grader each allow 32 and 16 parts."""


def refuse_many(given: Any) -> Any:
    """``given``, a definition or a grader as JSON. Raises ValueError if it has more than ``MOST_GRADERS`` graders."""
    count, todo = 0, [given]
    while todo:
        node = todo.pop()
        inner = list(_inner(node)) if isinstance(node, Mapping) else []
        count += len(inner)
        if count > MOST_GRADERS:
            raise ValueError(f"more than {MOST_GRADERS} graders, those inside others included: split the reward")
        todo += inner
    return given


def _inner(node: Mapping[str, Any]) -> Iterator[Any]:
    """Graders directly inside a definition, a ``multi`` or a ``composite``."""
    for name in ("components", "parts"):
        listed = node.get(name)
        if isinstance(listed, list | tuple):
            yield from (part["grader"] for part in listed if isinstance(part, Mapping) and "grader" in part)
    if isinstance(named := node.get("graders"), Mapping):
        yield from named.values()
