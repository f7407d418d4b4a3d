"""Calls between two jails, in both directions. Anything but plain values stays in its jail and is used remotely."""

import copy
import enum
import importlib
import inspect
import sys
import threading
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Mapping
from typing import Any

from worker.sandbox.calls import stand_ins, wire
from worker.sandbox.calls.mirrors import Mirrors, is_kept
from worker.sandbox.calls.operands import Siblings
from worker.sandbox.calls.shared_files import SharedFiles

STANDARD = sys.stdlib_module_names - {"antigravity", "this", "idlelib", "turtle", "tkinter"}
"""Modules whose import has no side effects."""
LIBRARIES = {"numpy"}
"""Packages that may be present on both sides."""
_RUNNERS = {"unittest", "doctest", "bdb"}
"""Modules whose exceptions tell a test's runner what to do: those of the program are ordinary failures."""
SHARED_TYPES = {
    "abc", "builtins", "collections", "collections.abc", "datetime", "decimal", "fractions", "_decimal", "numbers",
}  # fmt: skip
"""Modules whose classes are the same on both sides."""
_ITERATORS = (map, filter, zip, enumerate, reversed)
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.MethodWrapperType)
_INSPECTED = (types.FunctionType, types.MethodType)
_HELD = (list, dict, set, bytearray, deque, defaultdict, OrderedDict, Counter)
"""Containers that the other side's copies follow if this side keeps them."""
_CONTAINERS = (list, dict, set, bytearray, tuple)


class Peer:
    """One end of the line between the jails."""

    def __init__(self, line: wire.JsonConnection) -> None:
        self._line = line
        self._lock = threading.RLock()
        self._kept: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._described: set[int] = set()
        self._theirs: dict[int, Any] = {}
        self._granted: dict[int, int] = {}
        """Functions of the standard library that stand for the other side's, by identity."""
        self._returned: set[int] = set()
        """Numbers of the other side's objects that came as an answer, not of those that this side created there."""
        self.siblings = Siblings()
        self.files: SharedFiles | None = None
        """Files that are the same on both sides; None if the tests use none."""
        self.mirrors = Mirrors()
        self.asked = 0
        """Number of requests sent."""

    def ask(self, **request: Any) -> Any:
        """Send a request and return its value. Answer requests of the other side while waiting.

        Raises any exception that the request raises there, and EOFError if the other side is gone.
        """
        arguments = request.get("arguments", [])
        named = request.get("named", {})
        request = {**self.news(), **request}
        if "arguments" in request:
            request["arguments"] = [self._argument(one) for one in arguments]
            request["named"] = {name: self._argument(one) for name, one in named.items()}
        with self._lock:
            self.asked += 1
            self.send(request)
            while not (message := self._receive()).get("answer"):
                self.send(self.serve(message))
        for key, after in message.get("changed", {}).items():
            self._change(named[key] if key in named else arguments[int(key)], self.decode(after))
        if "error" in message:
            raise self.expected(self.error(message["error"]), request)
        if "argument" in message:
            key = message["argument"]
            return named[key] if key in named else arguments[int(key)]
        value = self.decode(message["value"])
        if "held" in message:
            value = self.mirrors.follow(str(message["held"]), value)
        if request["do"] != "make" and request.get("name") not in stand_ins.SELF and not isinstance(value, type):
            self._note_returned(value)
        return value

    def _argument(self, value: Any) -> Any:
        key = self.mirrors.key_of(value)
        return self.encode(value) if key is None else {"held": key}

    def _note_returned(self, value: Any) -> None:
        number = stand_ins.number_of(value)
        if number is not None:
            self._returned.add(number)

    def has_returned(self, stand_in: Any) -> bool:
        """Whether an object of the other side came as an answer."""
        return stand_ins.number_of(stand_in) in self._returned

    def serve(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a request from the other side."""
        try:
            arguments = [self.decode(one) for one in request.get("arguments", [])]
            named = {name: self.decode(one) for name, one in request.get("named", {}).items()}
            value = self.perform(request, arguments, named)
            kept = is_kept(sys.getrefcount(value))
            return {"answer": True, **self.news(), **self._value(value, request, arguments, named, kept)}
        except BaseException as error:
            return {"answer": True, **self.news(), "error": self.describe_error(error)}

    def serve_all(self) -> None:
        """Answer requests until the other side is gone."""
        while True:
            try:
                request = self._receive()
            except EOFError:
                return
            self.send(self.serve(request))

    def perform(self, request: Mapping[str, Any], arguments: list[Any], named: dict[str, Any]) -> Any:
        """Perform a request. Each side adds its own requests and refuses what it does not grant."""
        target: Any = self._kept[int(request["of"])] if "of" in request else None
        match request["do"]:
            case "call" | "make":
                return target(*arguments, **named)
            case "method":
                return getattr(target, request["name"])(*arguments, **named)
            case "attribute":
                return getattr(target, request["name"])
            case "set":
                return setattr(target, request["name"], arguments[0])
            case "delete":
                return delattr(target, request["name"])
            case "operate":
                return stand_ins.operate(target, request["name"], arguments)
            case "plain":
                return plain_content(target)
            case "copy" | "deepcopy":
                return getattr(copy, request["do"])(target)
            case "send":
                return target.send(*arguments)
            case "close":
                return target.close()
            case "next_awaited":
                return stand_ins.awaited(target.__anext__())
            case "await":
                return stand_ins.awaited(target)
        raise ValueError(f"no request {request['do']!r}")

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message."""
        self._line.send(message)

    def news(self) -> dict[str, Any]:
        """Changes here since the last message, for the next one.

        The other side reads them before the rest of the message, so they are encoded before it.
        """
        found: dict[str, Any] = {}
        changes = self.files.changes() if self.files is not None else None
        if changes is not None:
            found["changes"] = changes
        if mirrored := self.mirrors.changes(self.encode):
            found["mirrored"] = mirrored
        if more := self.surroundings_changed():
            found["surroundings"] = more
        return found

    def encode(self, value: Any) -> Any:
        """``value`` encoded for the other side."""
        before = len(self._kept)
        try:
            return wire.encode(value, self._refer)
        except BaseException:
            self._described -= set(range(before, len(self._kept)))  # these descriptions were not sent
            raise

    def decode(self, value: Any) -> Any:
        """A value from the other side, decoded."""
        return wire.decode(value, self._resolve)

    def trusts(self, stand_in: Any) -> bool:
        """Whether an object of the other side may decide what it equals."""
        return True

    def admits(self, kind: type[BaseException]) -> bool:
        """Whether an exception of the other side may be of this kind here, and not an ordinary failure."""
        others = [
            base for base in kind.__mro__ if not issubclass(base, Exception) and base not in (BaseException, object)
        ]
        runners = any(base.__module__.partition(".")[0] in _RUNNERS for base in kind.__mro__)
        return not runners and (not others or kind is SystemExit)

    def expected(self, error: BaseException, request: Mapping[str, Any]) -> BaseException:
        """The exception that a request raises here."""
        return error

    def surroundings_changed(self) -> Mapping[str, Any] | None:
        """News of this side's surroundings for the other side; None if there is none."""
        return None

    def change_surroundings(self, changes: Mapping[str, Any]) -> None:
        """Apply what the other side has reported."""

    def doubt(self, reason: str) -> None:
        """Record that this side cannot verify an answer of the other side."""

    def grants_standard(self) -> bool:
        """Whether standard library functions are replaced by this side's own."""
        return True

    def describe_error(self, error: BaseException) -> dict[str, Any]:
        """Description of an exception for the other side."""
        known = stand_ins.number_of(error)
        if known is not None:
            return {"yours": known}
        found: dict[str, Any] = {"mine": self._keep(error), "text": _text(error), "class": self.encode(type(error))}
        try:
            found["args"] = [self.encode(one) for one in error.args]
            found["cause"] = None if error.__cause__ is None else self.describe_error(error.__cause__)
        except (ValueError, RecursionError):
            found["args"] = []
        return found

    def error(self, description: Mapping[str, Any]) -> BaseException:
        """An exception of the other side, or our own that came back."""
        if "yours" in description:
            found: BaseException = self._kept[int(description["yours"])]
            return found
        kind = self.decode(description["class"])
        arguments = [self.decode(one) for one in description.get("args", [])]
        made = stand_ins.error(kind, arguments, str(description["text"]), self, int(description["mine"]))
        if description.get("cause"):
            made.__cause__ = self.error(description["cause"])
        return made

    def _value(
        self, value: Any, request: Mapping[str, Any], arguments: list[Any], named: Mapping[str, Any], kept: bool
    ) -> dict[str, Any]:
        found: dict[str, Any] = {}
        changed = {}
        given = {**{str(index): one for index, one in enumerate(arguments)}, **named}
        before = {
            **{str(index): one for index, one in enumerate(request.get("arguments", []))},
            **request.get("named", {}),
        }
        for key, one in given.items():
            if isinstance(one, _CONTAINERS) or type(one).__name__ in ("deque", "ndarray", "array"):
                if value is one and not isinstance(one, tuple):
                    found["argument"] = key
                after = self.encode(one)
                if after != before[key]:
                    changed[key] = after
        if changed:
            found["changed"] = changed
        if "argument" not in found:
            found["value"] = self.encode(value)
            if kept and type(value) in _HELD and self.mirrors.lend(key := f"c{self._keep(value)}", value):
                found["held"] = key
        return found

    def _receive(self) -> dict[str, Any]:
        message = self._line.receive()
        if not isinstance(message, dict):
            raise EOFError("the other side speaks nonsense")
        if self.files is not None and "changes" in message:
            self.files.apply(message["changes"])
        if "mirrored" in message:
            self.mirrors.apply(message["mirrored"], self.decode)
        if "surroundings" in message:
            self.change_surroundings(message["surroundings"])
        return message

    def _keep(self, value: Any) -> int:
        """The number of an object. It stays the same for the lifetime of this side."""
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._kept)
            self._kept.append(value)
        return number

    def _refer(self, value: Any) -> dict[str, Any]:
        theirs = stand_ins.number_of(value)
        if theirs is None:
            theirs = self._granted.get(id(value))
        if theirs is not None:
            return {"yours": theirs}
        kind = type(value)
        if isinstance(value, type) and value.__module__ in SHARED_TYPES and _named_in(value.__module__, value) is value:
            return {"type": f"{value.__module__}.{value.__qualname__}"}
        if isinstance(value, types.ModuleType) and value.__name__.partition(".")[0] in STANDARD | LIBRARIES:
            return {"module": value.__name__}
        if wire.is_named_tuple(value):
            return {"tuple_class": [value.__name__, list(value._fields), self.encode(value._field_defaults)]}
        if isinstance(value, type) and issubclass(value, BaseException) and _is_library(value):
            return {"type": f"{value.__module__}.{value.__qualname__}"}
        if isinstance(value, BaseException):
            return {"raised": self.describe_error(value)}
        number = self._keep(value)
        if number in self._described:
            return {"mine": number}
        self._described.add(number)
        if isinstance(value, type):
            return {"mine": number, "is": "class", **self._class(value)}
        if isinstance(value, _FUNCTIONS) or kind.__module__ == "functools":
            return {"mine": number, "is": "function", **_function(value)}
        if found := _flow(value):
            return {"mine": number, "is": found}
        described = {"mine": number, "is": "object", "class": self._class_of(kind)}
        if isinstance(value, stand_ins.BASES):
            described["plain"] = self.encode(plain_content(value))
            self.mirrors.lend(f"o{number}", value)
        return described

    def _class_of(self, kind: type) -> Any:
        """The class of an object, described even if both sides have it: the object is on this side alone."""
        if kind.__module__ not in SHARED_TYPES or (number := self._keep(kind)) in self._described:
            return self.encode(kind)
        self._described.add(number)
        return {"mine": number, "is": "class", **self._class(kind)}

    def _class(self, kind: type) -> dict[str, Any]:
        methods = [
            name
            for name in dir(kind)
            if name[:2] != "__" and isinstance(inspect.getattr_static(kind, name, None), types.FunctionType)
        ]
        return {
            "name": kind.__name__,
            "doc": kind.__doc__ if isinstance(kind.__doc__, str) else None,
            "bases": [self.encode(base) for base in kind.__bases__ if base is not object],
            "special": stand_ins.special(kind),
            "abstract": sorted(getattr(kind, "__abstractmethods__", ())),
            "methods": methods,
            "enum": issubclass(kind, enum.Enum),
            "meta": stand_ins.special(type(kind)) if type(kind) is not type else [],
        }

    def _resolve(self, value: dict[str, Any]) -> Any:
        if "yours" in value:
            return self._kept[int(value["yours"])]
        if "held" in value:
            return self.mirrors.own(str(value["held"]))
        if "raised" in value:
            return self.error(value["raised"])
        if "type" in value:
            module, _, name = str(value["type"]).rpartition(".")
            found = None
            if module in SHARED_TYPES or module.partition(".")[0] in STANDARD:
                found = getattr(importlib.import_module(module), name, None)
            if isinstance(found, type) and (module in SHARED_TYPES or issubclass(found, BaseException)):
                return found
            raise ValueError(f"no type {value['type']!r}")
        if "tuple_class" in value:
            name, fields, defaults = value["tuple_class"]
            return wire.tuple_class(str(name), fields, self.decode(defaults))
        if "module" in value:
            names = str(value["module"]).split(".")
            if names[0] not in STANDARD | LIBRARIES or "__main__" in names:
                raise ValueError(f"no module {value['module']!r}")
            return importlib.import_module(value["module"])
        number = int(value["mine"])
        if number not in self._theirs:
            if "standard" in value and self.grants_standard():
                module, _, name = str(value["standard"]).partition(":")
                found = self._theirs[number] = getattr(importlib.import_module(module), name)
                self._granted[id(found)] = number
            else:
                self._theirs[number] = stand_ins.make(self, number, value)
        return self._theirs[number]

    def _change(self, before: Any, after: Any) -> None:
        """Apply the other side's in-place changes to the object that it was given."""
        if stand_ins.number_of(before) is not None or type(before) is not type(after):
            return
        if isinstance(before, list | bytearray) or type(before).__name__ == "array":
            before[:] = after
        elif type(before).__name__ == "ndarray" and before.shape == after.shape:
            before[...] = after
        elif isinstance(before, dict | set) or type(before).__name__ == "deque":
            before.clear()
            (before.extend if type(before).__name__ == "deque" else before.update)(after)


def plain_content(value: Any) -> Any:
    """Content of an object whose class extends a builtin class, as the builtin class stores it."""
    base: Any = next(base for base in stand_ins.BASES if isinstance(value, base))
    if base in (int, float):
        return base.__add__(value, base())
    if base is str:
        return str.__str__(value)
    if base is dict:
        return {key: dict.__getitem__(value, key) for key in dict.__iter__(value)}
    return base(base.__iter__(value)) if base is not bytes else bytes(bytes.__iter__(value))


def _flow(value: Any) -> str | None:
    """Kind of an object that yields or can be awaited; None for others."""
    if isinstance(value, types.GeneratorType):
        return "generator"
    if isinstance(value, types.CoroutineType):
        return "coroutine"
    if isinstance(value, types.AsyncGeneratorType):
        return "async_generator"
    kind = type(value)
    if isinstance(value, _ITERATORS) or (kind.__module__ in ("builtins", "itertools") and hasattr(kind, "__next__")):
        return "iterator"
    return None


def _function(value: Any) -> dict[str, Any]:
    name = getattr(value, "__name__", type(value).__name__)
    doc = getattr(value, "__doc__", None)
    found: dict[str, Any] = {
        "name": name if isinstance(name, str) else "function",
        "doc": doc if isinstance(doc, str) else None,
        "async": inspect.iscoroutinefunction(value),
    }
    try:
        parameters = inspect.signature(value).parameters.values() if isinstance(value, _INSPECTED) else None
    except (ValueError, TypeError):
        parameters = None
    if parameters is not None:
        found["parameters"] = [[one.name, int(one.kind), one.default is not one.empty] for one in parameters]
    if is_standard(value):
        found["standard"] = f"{value.__module__}:{name}"
    return found


def is_standard(value: Any) -> bool:
    """Whether it is a function or class that the standard library has under its own name."""
    module = getattr(value, "__module__", None)
    return isinstance(module, str) and module in STANDARD and _named_in(module, value) is value


def _is_library(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in STANDARD and _named_in(kind.__module__, kind) is kind


def _named_in(module: str, value: Any) -> Any:
    return getattr(sys.modules.get(module), getattr(value, "__qualname__", ""), None)


def _text(error: BaseException) -> str:
    try:
        return str(error)[:10_000]
    except BaseException:
        return type(error).__name__
