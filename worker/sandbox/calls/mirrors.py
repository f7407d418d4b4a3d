"""Lists, dicts and the like that both jails hold: what one side changes, the other sees with the next message.

A container crosses as a copy. If its owner keeps it, as an attribute of an object or a constant of a module, each side
sends with its next message what it has changed, and the other side changes its own.
"""

import operator
import sys
from collections import deque
from collections.abc import Callable
from typing import Any

_KINDS = (list, dict, set, bytearray, deque)
_MOST = 4_000
"""Most parts of all containers that one side watches; the oldest are given up first."""
_LARGEST = 1_000
"""Most parts of one container that is watched."""


class Mirrors:
    """One side's containers that the other side has a copy of, and its copies of the other side's."""

    def __init__(self) -> None:
        self._held: dict[str, dict[str, _Watched]] = {"ours": {}, "theirs": {}}
        self._parts = 0

    def lend(self, key: str, value: Any) -> bool:
        """Watch a container of this side that the other side gets. False if it is none, or too large."""
        return self._watch("ours", key, value)

    def follow(self, key: str, copy: Any) -> Any:
        """Watch a copy of a container of the other side. Returns the copy that was there before, brought up to date."""
        known = self._held["theirs"].get(key)
        if known is not None and known.value is not copy and type(known.value) is type(copy):
            replace(known.value, copy)
            copy = known.value
        self._watch("theirs", key, copy)
        return copy

    def key_of(self, value: Any) -> str | None:
        """The key of a copy of the other side's container; None for anything else."""
        if not self._held["theirs"] or not isinstance(value, _KINDS):
            return None
        return next((key for key, known in self._held["theirs"].items() if known.value is value), None)

    def own(self, key: str) -> Any:
        """The container of this side that the other side names. Raises KeyError if it was not given to it."""
        return self._held["ours"][key].value

    def changes(self, encode: Callable[[Any], Any]) -> list[Any]:
        """Changes here since the last message: whose container, its key and its content."""
        found = []
        for side, held in self._held.items():
            for key, known in list(held.items()):
                if not _same(known.state, known.value):
                    found.append([side, key, encode(content(known.value))])
                    self._watch(side, key, known.value)
        return found

    def apply(self, changes: Any, decode: Callable[[Any], Any]) -> None:
        """Apply what has changed on the other side, to containers that both sides know."""
        for side, key, encoded in changes:
            mine = "theirs" if side == "ours" else "ours"
            known = self._held[mine].get(key)
            if known is not None:
                replace(known.value, decode(encoded))
                self._watch(mine, key, known.value)

    def forget(self) -> None:
        """Stop watching all of them."""
        for held in self._held.values():
            held.clear()
        self._parts = 0

    def _watch(self, side: str, key: str, value: Any) -> bool:
        held = self._held[side]
        before = held.pop(key, None)
        self._parts -= before.parts if before is not None else 0
        if not isinstance(value, _KINDS):
            return False
        room = [_LARGEST]
        try:
            state = _state(value, room)
        except _TooLargeError:
            return False
        held[key] = _Watched(value, state, _LARGEST - room[0] + 1)
        self._parts += held[key].parts
        while self._parts > _MOST:
            fullest = max(self._held.values(), key=len)
            self._parts -= fullest.pop(next(iter(fullest))).parts
        return key in held


def is_kept(references: int) -> bool:
    """Whether anything but the caller holds a value that ``sys.getrefcount`` counts so many references of."""
    return references > _FRESH


def content(value: Any) -> Any:
    """The content of a container, in the builtin class that it extends."""
    base: Any = next(kind for kind in _KINDS if isinstance(value, kind))
    if type(value) is base or base is deque or type(value).__module__ in ("builtins", "collections"):
        return value
    return (
        {key: dict.__getitem__(value, key) for key in dict.__iter__(value)}
        if base is dict
        else base(base.__iter__(value))
    )


def replace(value: Any, after: Any) -> None:
    """Give a container the content of another of its kind, whatever its class makes of that."""
    if isinstance(value, list):
        list.__setitem__(value, slice(None), after)
    elif isinstance(value, bytearray):
        bytearray.__setitem__(value, slice(None), after)
    elif isinstance(value, dict):
        dict.clear(value)
        dict.update(value, after)
    elif isinstance(value, set):
        set.clear(value)
        set.update(value, after)
    else:
        value.clear()
        value.extend(after)


class _Watched:
    __slots__ = ("parts", "state", "value")

    def __init__(self, value: Any, state: Any, parts: int) -> None:
        self.value, self.state, self.parts = value, state, parts


class _State:
    """A container with its parts at some moment, by identity."""

    __slots__ = ("nested", "parts", "value")

    def __init__(self, value: Any, parts: list[Any]) -> None:
        self.value, self.parts = value, parts
        self.nested = any(type(part) is _State for part in parts)


class _TooLargeError(Exception):
    """A container has too many parts to be watched."""


def _parts(value: Any) -> list[Any] | None:
    if isinstance(value, dict):
        return [*dict.keys(value), *dict.values(value)]
    kind: Any = next((kind for kind in (list, tuple, set, bytearray, deque) if isinstance(value, kind)), None)
    return None if kind is None else [*kind.__iter__(value)]


def _state(value: Any, room: list[int]) -> Any:
    parts = _parts(value)
    if parts is None:
        return value
    room[0] -= len(parts) + 1
    if room[0] < 0:
        raise _TooLargeError
    return _State(value, [_state(part, room) for part in parts])


def _same(state: Any, value: Any) -> bool:
    if type(state) is not _State:
        return state is value
    if state.value is not value:
        return False
    parts = _parts(value) or []
    same = _same if state.nested else operator.is_
    return len(parts) == len(state.parts) and all(map(same, state.parts, parts))


def _fresh() -> list[Any]:
    return []


def _references() -> int:
    value: Any = _fresh()
    return sys.getrefcount(value)


_FRESH = _references()
"""References to a value that only the calling function holds."""
