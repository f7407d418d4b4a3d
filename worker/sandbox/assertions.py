"""The tests' jail of an assert test: runs the dataset's tests; the candidate's functions are calls into its jail."""

import builtins
import importlib
import sys
from typing import Any

from worker.sandbox import wire

_CHANNEL = 102
STANDARD = sys.stdlib_module_names - {"antigravity", "this", "idlelib", "turtle", "tkinter"}
"""Modules that do nothing when they are imported."""
_CALLABLE_LIMIT = 10_000


class Space(dict[str, Any]):
    """Globals of a test. Names that the test does not define are the candidate's; builtins stay the test's own."""

    def __init__(self, proxies: dict[str, Any], entry_point: str) -> None:
        super().__init__(__name__="test", __builtins__=builtins)
        self._proxies = proxies
        if entry_point:
            self[entry_point] = proxies[entry_point]

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name) or name not in self._proxies:
            raise KeyError(name)
        return self._proxies[name]


class CandidateFailedError(Exception):
    """The candidate raised something that is no ordinary exception, or is gone."""


def judge(setup: str, tests: list[str], entry_point: str) -> list[bool]:
    """Tell which tests pass. Each has globals of its own; ``setup`` runs before each."""
    line = wire.JsonConnection(_CHANNEL)
    try:
        hello = line.receive()
        names = [name for name in hello["names"] if isinstance(name, str)][:_CALLABLE_LIMIT]
        modules = {str(name): str(module) for name, module in hello["modules"].items()}
    except (EOFError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return [False] * len(tests)
    # A test may rely on an import of the solution: it gets the standard library's module, never the solution's object,
    # and under no other module's name.
    proxies = {
        name: importlib.import_module(module)
        for name, module in modules.items()
        if module in STANDARD and (name == module or name not in STANDARD)
    }
    proxies |= {name: _proxy(line, name) for name in {*names, *([entry_point] if entry_point else [])}}
    return [_passes(setup, test, Space(proxies, entry_point)) for test in tests]


def _passes(setup: str, test: str, space: Space) -> bool:
    try:
        exec(compile(setup, "<setup>", "exec"), space)  # nosec B102
        exec(compile(test, "<test>", "exec"), space)  # nosec B102
    except BaseException:
        return False
    return True


def _proxy(line: wire.JsonConnection, name: str) -> Any:
    def call(*arguments: Any, **named: Any) -> Any:
        line.send(
            {
                "call": True,
                "name": name,
                "arguments": wire.encode(list(arguments), _number),
                "named": wire.encode(named, _number),
            }
        )
        try:
            answer = line.receive()
            if "error" in answer:
                raise _raised(str(answer["error"]), str(answer.get("message", "")))
            for before, after in zip(arguments, wire.decode(answer["arguments"]), strict=True):
                _change(before, after)
            return wire.decode(answer["value"])
        except (EOFError, RecursionError) as error:
            raise CandidateFailedError(str(error)) from None

    call.__name__ = name if name.isidentifier() else "candidate"
    return call


def _number(value: Any) -> int:
    if isinstance(value, wire.Handle):
        return value.number
    raise TypeError(f"a {type(value).__name__} cannot be handed to the candidate")


def _change(before: Any, after: Any) -> None:
    """Carry what the candidate changed in place over to the test."""
    if type(before) is list and type(after) is list:
        before[:] = after
    elif type(before) in (dict, set) and type(after) is type(before):
        before.clear()
        before.update(after)


def _raised(name: str, message: str) -> Exception:
    kind = getattr(builtins, name, None)
    if isinstance(kind, type) and issubclass(kind, Exception) and kind is not AssertionError:
        try:
            return kind(message)
        except TypeError:
            pass  # UnicodeDecodeError and its like want more than a message
    return CandidateFailedError(f"{name}: {message}")
