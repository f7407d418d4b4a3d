"""Values as JSON between two jails: only exact types of the standard library, so that no object of the candidate ever
crosses. Everything else crosses as a reference, through ``peer``."""

import array
import base64
import datetime
import re
import socket
import sys
import types
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, ItemsView, KeysView, Mapping, Sequence, ValuesView
from decimal import Decimal
from fractions import Fraction
from json import dumps, loads  # a test may replace what ``json`` holds
from typing import Any

_DEEPEST = 200
_LONGEST = 1 << 26
_LONG_INTEGER = 1 << 12
"""Size in bits above which an integer is written in hexadecimal: Python limits decimal digits, and is slow at them."""
_ATOMS = {type(None), bool, str, float}
_ALIASED = (list, dict, set)
"""Containers whose identity matters: what happens to one happens wherever else it is held."""
_VIEWS: dict[Any, str] = {
    type({}.keys()): "keys",
    type({}.values()): "values",
    type({}.items()): "items",
    KeysView: "keys",
    ValuesView: "values",
    ItemsView: "items",
}

Refer = Callable[[Any], dict[str, Any]]
Resolve = Callable[[dict[str, Any]], Any]


def encode(value: Any, refer: Refer) -> Any:
    """``value`` as JSON. Anything but a plain value becomes the reference that ``refer`` returns.

    A list, dict or set that occurs several times in ``value`` is the same object on the other side, too.

    Raises:
        ValueError: it is nested more than 200 deep.
    """
    return _encoded(value, refer, 0, {})


def _encoded(value: Any, refer: Refer, depth: int, seen: dict[int, int]) -> Any:
    """``seen``: the containers encoded so far, numbered in the order in which they end, by identity."""
    if depth > _DEEPEST:
        raise ValueError(f"a value is nested more than {_DEEPEST} deep")
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind is int:
        return {"int": hex(value)} if value.bit_length() > _LONG_INTEGER else value

    def part(inner: Any) -> Any:
        return _encoded(inner, refer, depth + 1, seen)

    if kind in _ALIASED:
        known = seen.get(id(value))
        if known is not None:
            return {"again": known}
        if kind is list:
            found: Any = list(value) if _flat(value) else [part(one) for one in value]
        elif kind is dict:
            found = {"dict": [[part(key), part(one)] for key, one in value.items()]}
        else:
            found = {"set": [part(one) for one in value]}
        seen[id(value)] = len(seen)
        return found
    if kind in (tuple, frozenset):
        return {kind.__name__: [part(one) for one in value]}
    if kind in _PACK:
        name, pack = _PACK[kind]
        return {name: pack(value, part)}
    if kind in _VIEWS:
        return {_VIEWS[kind]: [part(one) for one in value]}
    if isinstance(value, tuple) and is_named_tuple(kind):
        return {"named_tuple": [kind.__name__, list(kind._fields), [part(one) for one in tuple.__iter__(value)]]}
    if (other := _of_library(value)) is not None:
        return other
    return refer(value)


def decode(value: Any, resolve: Resolve) -> Any:
    """The value of ``encode``'s JSON. ``resolve`` returns the object of a reference. Raises ValueError and the like."""
    return _decoded(value, resolve, [])


def _decoded(value: Any, resolve: Resolve, made: list[Any]) -> Any:
    """``made``: the containers decoded so far, in the order in which they end."""

    def part(inner: Any) -> Any:
        return _decoded(inner, resolve, made)

    if isinstance(value, list):
        made_list = list(value) if _flat(value) else [part(one) for one in value]
        made.append(made_list)
        return made_list
    if not isinstance(value, dict):
        return value
    if len(value) != 1:
        return resolve(value)
    ((kind, inner),) = value.items()
    match kind:
        case "int":
            return int(inner, 16)
        case "dict" | "set":
            found: Any = (
                {part(key): part(one) for key, one in inner} if kind == "dict" else {part(one) for one in inner}
            )
            made.append(found)
            return found
        case "again":
            return made[inner]
        case "tuple" | "frozenset":
            return {"tuple": tuple, "frozenset": frozenset}[kind](part(one) for one in inner)
        case "keys" | "values" | "items":
            return _view(kind, [part(one) for one in inner])
        case "named_tuple":
            name, fields, items = inner
            return tuple_class(name, fields)(*(part(one) for one in items))
        case "array" | "uuid" | "path" | "zone" | "ndarray" | "numpy":
            return _from_library(kind, inner)
    if kind in _UNPACK:
        return _UNPACK[kind](inner, part)
    return resolve(value)


def _flat(value: list[Any]) -> bool:
    """Whether JSON represents it unchanged. Only short integers: others are written in hexadecimal."""
    kinds = set(map(type, value))
    if not kinds <= {*_ATOMS, int}:
        return False
    return int not in kinds or kinds > {int} or (max(value).bit_length() < 4000 and min(value).bit_length() < 4000)


_TUPLE_CLASSES: dict[tuple[str, ...], Any] = {}
"""Named tuples of the other side, each class made once: an object is one of its class."""


def tuple_class(name: str, fields: Sequence[str], defaults: Mapping[str, Any] | None = None) -> Any:
    """The class of named tuples with this name and these fields. ``defaults``: those of its last fields, if known."""
    key = (name, *fields)
    if key not in _TUPLE_CLASSES:
        _TUPLE_CLASSES[key] = namedtuple(name, fields)
    kind = _TUPLE_CLASSES[key]
    if defaults:
        kind._field_defaults = dict(defaults)
        kind.__new__.__defaults__ = tuple(defaults.values())
    return kind


def is_named_tuple(kind: Any) -> bool:
    """Whether the class is a tuple with names and nothing else: it has no methods of its own."""
    fields = getattr(kind, "_fields", None) if isinstance(kind, type) else None
    if not isinstance(fields, tuple) or kind.__bases__ != (tuple,):
        return False
    more = set(vars(kind)) - {"__slots__", "__new__", "__repr__", "__getnewargs__", "__orig_bases__"} - set(fields)
    return not any(
        isinstance(vars(kind)[name], types.FunctionType | property) for name in more if name[:1] != "_"
    ) and (all(type(name) is str and name.isidentifier() for name in fields))


def _view(kind: str, parts: list[Any]) -> Any:
    if kind == "keys":
        return dict.fromkeys(parts).keys()
    return dict(parts).items() if kind == "items" else dict(enumerate(parts)).values()


def _of_library(value: Any) -> Any:
    """Encoded values of modules that are not always loaded. If one is not, no value can be from it."""
    kind = type(value)
    match f"{kind.__module__}.{kind.__qualname__}":
        case "array.array":
            return {"array": [value.typecode, value.tolist()]}
        case "uuid.UUID":
            return {"uuid": value.hex}
        case "pathlib.PosixPath" | "pathlib.PurePosixPath":
            return {"path": [kind.__name__, str(value)]}
        case "zoneinfo.ZoneInfo":
            return {"zone": value.key}
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.ndarray | numpy.generic):
        if value.dtype.hasobject or value.dtype.names:
            return None
        data = base64.b64encode(numpy.ascontiguousarray(value).tobytes()).decode()
        if isinstance(value, numpy.generic):
            return {"numpy": [value.dtype.str, data]}
        return {"ndarray": [value.dtype.str, list(value.shape), data]}
    return None


def _from_library(kind: str, inner: Any) -> Any:
    match kind:
        case "array":
            return array.array(inner[0], inner[1])
        case "uuid":
            import uuid

            return uuid.UUID(hex=inner)
        case "path":
            import pathlib

            return {"PosixPath": pathlib.PosixPath}.get(inner[0], pathlib.PurePosixPath)(inner[1])
        case "zone":
            import zoneinfo

            return zoneinfo.ZoneInfo(inner)
    import numpy

    data = numpy.frombuffer(base64.b64decode(inner[-1]), dtype=numpy.dtype(inner[0]))
    return data[0] if kind == "numpy" else data.reshape(inner[1]).copy()


def _datetime(inner: Any, decode_part: Callable[[Any], Any]) -> datetime.datetime:
    moment = datetime.datetime.fromisoformat(inner[0])
    return moment.replace(tzinfo=decode_part(inner[1]), fold=inner[2])


def _time(inner: Any, decode_part: Callable[[Any], Any]) -> datetime.time:
    return datetime.time.fromisoformat(inner[0]).replace(tzinfo=decode_part(inner[1]), fold=inner[2])


_Pack = Callable[[Any, Callable[[Any], Any]], Any]
_PACK: dict[type, tuple[str, _Pack]] = {
    complex: ("complex", lambda value, part: [repr(value.real), repr(value.imag)]),
    bytes: ("bytes", lambda value, part: base64.b64encode(value).decode()),
    bytearray: ("bytearray", lambda value, part: base64.b64encode(value).decode()),
    memoryview: ("bytes", lambda value, part: base64.b64encode(value).decode()),
    range: ("range", lambda value, part: [part(value.start), part(value.stop), part(value.step)]),
    slice: ("slice", lambda value, part: [part(value.start), part(value.stop), part(value.step)]),
    type(...): ("constant", lambda value, part: "..."),
    type(NotImplemented): ("constant", lambda value, part: "NotImplemented"),
    Decimal: ("decimal", lambda value, part: str(value)),
    Fraction: ("fraction", lambda value, part: [part(value.numerator), part(value.denominator)]),
    datetime.date: ("date", lambda value, part: value.isoformat()),
    datetime.datetime: (
        "datetime",
        lambda value, part: [value.replace(tzinfo=None).isoformat(), part(value.tzinfo), value.fold],
    ),
    datetime.time: (
        "time",
        lambda value, part: [value.replace(tzinfo=None).isoformat(), part(value.tzinfo), value.fold],
    ),
    datetime.timedelta: ("timedelta", lambda value, part: [value.days, value.seconds, value.microseconds]),
    datetime.timezone: ("timezone", lambda value, part: part(value.utcoffset(None))),
    deque: ("deque", lambda value, part: [[part(one) for one in value], value.maxlen]),
    Counter: ("counter", lambda value, part: [[part(key), part(one)] for key, one in value.items()]),
    OrderedDict: ("ordered_dict", lambda value, part: [[part(key), part(one)] for key, one in value.items()]),
    defaultdict: ("default_dict", lambda value, part: [[part(key), part(one)] for key, one in value.items()]),
    re.Pattern: ("pattern", lambda value, part: [part(value.pattern), value.flags]),
}
_UNPACK: dict[str, _Pack] = {
    "complex": lambda inner, part: complex(float(inner[0]), float(inner[1])),
    "bytes": lambda inner, part: base64.b64decode(inner),
    "bytearray": lambda inner, part: bytearray(base64.b64decode(inner)),
    "range": lambda inner, part: range(*map(part, inner)),
    "slice": lambda inner, part: slice(*map(part, inner)),
    "constant": lambda inner, part: {"...": ..., "NotImplemented": NotImplemented}[inner],
    "decimal": lambda inner, part: Decimal(inner),
    "fraction": lambda inner, part: Fraction(part(inner[0]), part(inner[1])),
    "date": lambda inner, part: datetime.date.fromisoformat(inner),
    "datetime": _datetime,
    "time": _time,
    "timedelta": lambda inner, part: datetime.timedelta(*inner),
    "timezone": lambda inner, part: datetime.timezone(part(inner)),
    "deque": lambda inner, part: deque(map(part, inner[0]), inner[1]),
    "counter": lambda inner, part: Counter({part(key): part(one) for key, one in inner}),
    "ordered_dict": lambda inner, part: OrderedDict((part(key), part(one)) for key, one in inner),
    "default_dict": lambda inner, part: defaultdict(None, ((part(key), part(one)) for key, one in inner)),
    "pattern": lambda inner, part: re.compile(part(inner[0]), inner[1]),
}


class JsonConnection:
    """One JSON document per line over a socket."""

    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=descriptor)
        self._reader = self._socket.makefile("rb")

    def send(self, message: Mapping[str, Any] | Sequence[Any]) -> None:
        """Send one document."""
        self._socket.sendall(dumps(message).encode() + b"\n")

    def receive(self) -> Any:
        """The next document. Raises EOFError at the end, and if it is longer than 64 MiB."""
        line = self._reader.readline(_LONGEST)
        if not line.endswith(b"\n"):
            raise EOFError("the other side is gone")
        return loads(line)
