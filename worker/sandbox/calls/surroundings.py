"""The part of a process that tests and the program share beyond their calls, as if they ran in one.

From the tests to the program: replaced functions of the standard library, the environment, and names that the program
uses and does not define. From the program to the tests: warnings and log records, and the environment.
"""

import ast
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from worker.sandbox.calls.peer import STANDARD, is_standard

if TYPE_CHECKING:
    import logging

_REPLACES = re.compile(r"patch|setattr|mock|^\s*\w+(?:\.\w+)+\s*=[^=]", re.MULTILINE)
"""Signs of a test that replaces something in a module."""
_ENVIRONMENT = {"environ", "getenv", "putenv", "setenv", "delenv"}
_WARNINGS = {"warnings", "assertWarns", "assertWarnsRegex", "warns", "recwarn", "deprecated_call", "filterwarnings"}
_LOGS = {"logging", "assertLogs", "assertNoLogs", "caplog"}
_WATCHED = {"builtins": {"open", "print"}, "sys": {"argv"}}
"""Names that are watched in modules whose other names the jails themselves use."""
_OWN = {
    "_thread", "abc", "base64", "collections", "copy", "functools", "importlib", "inspect", "io", "json", "logging",
    "operator", "pickle", "re", "socket", "test", "threading", "types", "typing", "unittest", "warnings",
}  # fmt: skip
"""Modules whose functions the jails themselves use, or that tell a runner of tests what to do."""
_NOT_SHARED = re.compile(r"PYTEST|PYTHON|PY_|LD_|PATH$|HOME$|TMP")
"""Variables that a program cannot set for its tests."""
_MOST = 1000
_DUNDER = re.compile(r"__\w+__")


def needs(words: set[str]) -> dict[str, Any]:
    """Events that the program has to report to tests with these words; empty if none."""
    wanted = {"warnings": _WARNINGS, "logs": _LOGS, "environment": _ENVIRONMENT}
    return {name: True for name, signs in wanted.items() if words & signs}


class TestSurroundings:
    """The tests' side."""

    def __init__(self, text: str, words: set[str], missing: Sequence[str]) -> None:
        """``missing``: names that the program uses and does not define."""
        self._words, self._missing = words, missing[:_MOST]
        self._originals = _originals(words) if _REPLACES.search(text) else {}
        self._replaced: dict[tuple[str, str], Any] = {}
        self._environment = dict(os.environ) if words & _ENVIRONMENT else None
        self._given: dict[str, Any] = {}
        self._space: Mapping[str, Any] = {}
        self._offered: frozenset[str] = frozenset()

    def enter(self, space: Mapping[str, Any], text: str) -> None:
        """A test begins. ``space``: its names. ``text``: the test with its setup."""
        if self._missing:
            self._space, self._offered = space, _offered(text)

    def changes(self, encode: Callable[[Any], Any]) -> dict[str, Any] | None:
        """Changes for the program to apply before the next request; None if there are none."""
        found: dict[str, Any] = {}
        if self._originals:
            now = {key: value for key, (module, original) in self._originals.items()
                   if (value := module.__dict__.get(key[1], original)) is not original}  # fmt: skip
            if replaced := [
                [*key, encode(value)] for key, value in now.items() if self._replaced.get(key) is not value
            ]:
                found["replaced"] = replaced
            if restored := [list(key) for key in self._replaced if key not in now]:
                found["restored"] = restored
            self._replaced = now
        if self._environment is not None and self._environment != (variables := dict(os.environ)):
            found["environment"] = _difference(self._environment, variables)
            self._environment = variables
        if self._missing and (names := self._new_names()):
            found["names"] = {name: encode(value) for name, value in names.items()}
        return found or None

    def _new_names(self) -> dict[str, Any]:
        """Functions, classes and modules that the program lacks and the test offers.

        What the test itself reads is offered only if it holds no code of the test's own: it may be the expected answer.
        """
        found = {}
        for name in self._missing:
            value = dict.get(self._space, name) if isinstance(self._space, dict) else None
            if value is None or self._given.get(name) is value:
                continue
            if name in self._offered or isinstance(value, type(sys)) or is_standard(value) or _is_record(value):
                self._given[name] = found[name] = value
        return found

    def apply(self, message: Mapping[str, Any], decode: Callable[[Any], Any]) -> None:
        """Pass on what the program has reported. Raises what a filter of the tests makes of a warning."""
        for variable, value in message.get("environment", {}).items():
            if self._environment is not None and variable in self._words and not _NOT_SHARED.match(variable):
                _set(variable, value)
                self._environment = dict(os.environ)
        for name, level, text, function in message.get("logged", ()):
            _log(str(name), int(level), str(text), str(function))
        for kind, text in message.get("warned", ()):
            _warn(decode(kind), str(text))


class ProgramSurroundings:
    """The program's side."""

    def __init__(self, space: dict[str, Any]) -> None:
        self._space = space
        self._originals: dict[tuple[str, str], Any] = {}
        self._environment: dict[str, str] | None = None
        self._reported: dict[str, Any] = {}

    def report(self, wanted: Mapping[str, Any]) -> None:
        """Report these events from here on."""
        if wanted.get("environment"):
            self._environment = dict(os.environ)
        if wanted.get("warnings"):
            self._report_warnings()
        if wanted.get("logs"):
            self._report_logs()

    def apply(self, changes: Mapping[str, Any], decode: Callable[[Any], Any]) -> None:
        """Change what the tests have changed."""
        for module, name, value in changes.get("replaced", ()):
            self._originals.setdefault((module, name), getattr(sys.modules[module], name))
            setattr(sys.modules[module], name, decode(value))
        for module, name in changes.get("restored", ()):
            setattr(sys.modules[module], name, self._originals.pop((module, name)))
        for variable, value in changes.get("environment", {}).items():
            _set(variable, value)
        if self._environment is not None:
            self._environment = dict(os.environ)
        for name, value in changes.get("names", {}).items():
            self._space[name] = decode(value)

    def changes(self, encode: Callable[[Any], Any]) -> dict[str, Any] | None:
        """Events to report with the next message; None if there are none."""
        found, self._reported = self._reported, {}
        if "warned" in found:
            found["warned"] = [[encode(kind), text] for kind, text in found["warned"]]
        if self._environment is not None and self._environment != (variables := dict(os.environ)):
            found["environment"] = _difference(self._environment, variables)
            self._environment = variables
        return found or None

    def _report_warnings(self) -> None:
        import warnings

        def show(message: Any, category: Any, *_: Any, **__: Any) -> None:
            self._reported.setdefault("warned", []).append((category, str(message)))

        warnings.simplefilter("always")
        warnings.showwarning = show

    def _report_logs(self) -> None:
        import logging

        def emit(record: "logging.LogRecord") -> None:
            entry = [record.name, record.levelno, record.getMessage(), record.funcName or ""]
            self._reported.setdefault("logged", []).append(entry)

        handler = logging.Handler()
        handler.emit = emit  # type: ignore[method-assign]
        logging.getLogger().addHandler(handler)
        logging.getLogger().setLevel(1)


def missing_names(code: str) -> list[str]:
    """Names that a program uses in its functions and never defines."""
    tree = ast.parse(code)
    bound: set[str] = set()
    used: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                used[node.id] = None
            else:
                bound.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {(name.asname or name.name).partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            bound.add(node.name)
    known = bound | set(dir(__import__("builtins")))
    return [name for name in used if name not in known and not _DUNDER.fullmatch(name)]


def _originals(words: set[str]) -> dict[tuple[str, str], tuple[Any, Any]]:
    """Module and value of each name that a test may replace."""
    found = {}
    for place in {*(words & STANDARD) - _OWN, *(["os.path"] if "os" in words else [])}:
        module = sys.modules.get(place)
        if module is None:
            continue
        names = _WATCHED.get(place, vars(module).keys() & words)
        for name in names:
            found[place, name] = (module, getattr(module, name))
    return found


def _offered(text: str) -> frozenset[str]:
    """Names that a test defines and does not read itself: they are there for the program."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return frozenset()
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    read = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    made = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    made |= {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    return frozenset(made - read)


def _is_record(value: Any) -> bool:
    """Whether it is a class that only holds data, such as the node of a tree."""
    return isinstance(value, type) and all(
        _DUNDER.fullmatch(name) for name, one in vars(value).items() if callable(one) or hasattr(one, "__get__")
    )


def _difference(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str | None]:
    changed: dict[str, str | None] = {name: value for name, value in after.items() if before.get(name) != value}
    return changed | {name: None for name in before if name not in after}


def _set(variable: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(variable, None)
    else:
        os.environ[variable] = value


def _log(name: str, level: int, text: str, function: str) -> None:
    import logging

    logger = logging.getLogger(name)
    if logger.isEnabledFor(level):
        logger.handle(logger.makeRecord(name, level, "solution.py", 1, text, (), None, function))


def _warn(kind: Any, text: str) -> None:
    import warnings

    if isinstance(kind, type) and issubclass(kind, Warning):
        warnings.warn_explicit(text, kind, "solution.py", 1)
