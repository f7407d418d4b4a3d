"""Values as JSON between two jails: exact built-in types only, so that no object of the candidate ever crosses."""

import json
import socket
import types
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

_DEEPEST = 50
_LONGEST = 1 << 22
_MOST_ITEMS = 100_000
_BASES = (int, float, str, list, tuple, dict, set, frozenset)
_ITERATORS = (types.GeneratorType, map, filter, zip, enumerate, reversed)


class Handle:
    """Stands for an object of the candidate that cannot cross: it can be handed back, and equals only itself."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


def encode(value: Any, keep: Callable[[Any], int], depth: int = 0) -> Any:
    """``value`` as JSON. What is no plain value becomes the number that ``keep`` gives it."""
    if depth > _DEEPEST:
        raise ValueError("nested too deeply")
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return {"float": repr(value)}
    if kind is complex:
        return {"complex": [repr(value.real), repr(value.imag)]}
    if kind in (bytes, bytearray):
        return {"bytes": value.hex()}
    if kind is range:
        return {"range": [value.start, value.stop, value.step]}
    if kind is list:
        return [encode(part, keep, depth + 1) for part in value]
    if kind in (tuple, set, frozenset):
        return {kind.__name__: [encode(part, keep, depth + 1) for part in value]}
    if kind is dict:
        return {"dict": [[encode(key, keep, depth + 1), encode(part, keep, depth + 1)] for key, part in value.items()]}
    if isinstance(value, _ITERATORS) or kind.__name__.endswith("_iterator"):
        return {"iterator": [encode(part, keep, depth + 1) for part in islice(value, _MOST_ITEMS)]}
    for base in _BASES:
        if isinstance(value, base):  # a Counter, a named tuple, an IntEnum: its plain content
            return encode(_plain(value, base), keep, depth + 1)
    return {"handle": keep(value)}


def _plain(value: Any, base: type) -> Any:
    if base in (int, float):
        return base.__add__(value, base())  # type: ignore[operator]
    if base is str:
        return str.__str__(value)
    if base is dict:
        return {key: dict.__getitem__(value, key) for key in dict.__iter__(value)}
    return base(part for part in base.__iter__(value))  # type: ignore[attr-defined]


def decode(value: Any, find: Callable[[int], Any] = Handle) -> Any:
    """The value of ``encode``'s JSON."""
    if isinstance(value, list):
        return [decode(part, find) for part in value]
    if not isinstance(value, dict):
        return value
    ((kind, inner),) = value.items()
    match kind:
        case "float":
            return float(inner)
        case "complex":
            return complex(float(inner[0]), float(inner[1]))
        case "bytes":
            return bytes.fromhex(inner)
        case "range":
            return range(*inner)
        case "dict":
            return {decode(key, find): decode(part, find) for key, part in inner}
        case "iterator":
            return iter([decode(part, find) for part in inner])
        case "tuple" | "set" | "frozenset":
            return {"tuple": tuple, "set": set, "frozenset": frozenset}[kind](decode(part, find) for part in inner)
        case "handle":
            return find(int(inner))
    raise ValueError(f"unknown kind {kind!r}")


class JsonConnection:
    """One JSON document per line over a socket."""

    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=descriptor)
        self._reader = self._socket.makefile("rb")

    def send(self, message: Mapping[str, Any] | Sequence[Any]) -> None:
        """Send one document."""
        self._socket.sendall(json.dumps(message).encode() + b"\n")

    def receive(self) -> Any:
        """The next document. Raises EOFError at the end, and where it is longer than 4 MiB."""
        line = self._reader.readline(_LONGEST)
        if not line.endswith(b"\n"):
            raise EOFError("the other side is gone")
        return json.loads(line)
