"""The tests' jail: runs the dataset's tests. What the candidate defines runs in the candidate's own jail."""

import builtins
import io
import queue
import random
import re
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from worker.sandbox.calls import peer, real_pytest, stand_ins, suites, surroundings, wire
from worker.sandbox.calls.shared_files import SharedFiles

_CHANNEL = 102
_MODULES = ("solution", "main", "your_module", "my_module", "program")
"""Names under which tests may import the program."""
_NAMES_LIMIT = 10_000
_WORD = re.compile(r"[^\W\d]\w*")
_FILES = {
    "open", "tempfile", "tmp_path", "tmpdir", "write_text", "write_bytes", "mkdir", "makedirs", "Path", "pathlib",
}  # fmt: skip
"""Words that occur in tests that use files."""
_LOGGERS = {"logging.Logger", "logging.RootLogger", "logging.LoggerAdapter"}
_LENT = (io.IOBase, queue.Queue, random.Random)
"""Standard library classes whose objects the candidate may use if a test passes it one."""
_ITERATES = {"__next__", "__anext__", "send", "asend", "throw", "athrow"}
"""Methods of iterators."""
_OF_TESTS = {suites.TEST_MODULE, real_pytest.MODULE, real_pytest.CONFTEST, "__main__"}
"""Modules that tests run as."""
Verdict = bool | str
"""Whether a test passes, or the reason why that cannot be judged."""


class Judge(peer.Peer):
    """The tests' end of the line. It grants the candidate only what the tests pass to it."""

    def __init__(self, line: wire.JsonConnection, text: str, given: Callable[[], Mapping[str, Any]]) -> None:
        """``text``: that of the tests. ``given``: what the setup defines for the program."""
        super().__init__(line)
        self._text, self._words, self._given = text, set(_WORD.findall(text)), given
        self._missing: list[str] = []
        self._stdout, self._stdin = sys.stdout, sys.stdin
        self.doubts: list[str] = []
        """Reasons why a test cannot be judged."""
        self.surroundings: surroundings.TestSurroundings | None = None
        self.missed = 0
        """Number of names that a test has looked for and the program lacks."""

    @property
    def touched(self) -> int:
        """Grows whenever the tests consult the program."""
        return self.asked + self.missed

    def wait(self) -> None:
        """Wait until the program is loaded. Raises EOFError if it fails to load."""
        while not (message := self._receive()).get("ready"):
            self.send(self.serve(message))
        missing = message.get("missing", [])
        self._missing = [name for name in missing if isinstance(name, str)] if isinstance(missing, list) else []

    def share(self) -> None:
        """Share with the program what the tests use: files, random seeds, the environment, warnings and logs."""
        if wanted := surroundings.needs(self._words):
            self.ask(do="report", arguments=[], named=wanted)
        if self._words & _FILES:
            self.ask(do="share")
            self.files = SharedFiles()
        if "seed" in self._words:
            seed = random.seed

            def both(*arguments: Any, **named: Any) -> None:
                seed(*arguments, **named)
                self.ask(do="seed", arguments=arguments, named=named)

            random.seed = both
        # Last: what a test replaces is what it finds here.
        self.surroundings = surroundings.TestSurroundings(self._text, self._words, self._missing)

    def trusts(self, stand_in: Any) -> bool:
        """Trust only objects whose class, or a base of it, is named in the tests themselves."""
        if stand_in is None:
            return False
        kind = stand_in if isinstance(stand_in, type) else type(stand_in)
        return any(base.__name__ in self._words for base in kind.__mro__ if base is not object)

    def doubt(self, reason: str) -> None:
        self.doubts.append(reason)

    def expected(self, error: BaseException, request: Mapping[str, Any]) -> BaseException:
        """Only iterators may end an iteration of the tests, unless the tests expect that."""
        iterates = request["do"] in ("send", "next_awaited") or request.get("name") in _ITERATES
        if isinstance(error, StopIteration | StopAsyncIteration) and not iterates:
            return error if {"StopIteration", "StopAsyncIteration"} & self._words else stand_ins.failure(error)
        return error

    def grants_standard(self) -> bool:
        return False

    def perform(self, request: Mapping[str, Any], arguments: list[Any], named: dict[str, Any]) -> Any:
        action, name = request["do"], str(request.get("name", ""))
        if action == "given":
            return self._given()
        if action == "input":
            return builtins.input(*arguments)
        if action == "read_line":
            return sys.stdin.readline() if sys.stdin is not self._stdin else ""
        target = self._kept[int(request["of"])]
        if action in ("attribute", "set", "delete", "method") and not _may_touch(target, name):
            raise AttributeError(f"{type(target).__name__!r} object has no attribute {name!r}")
        if action in ("send", "close") and not isinstance(target, types.GeneratorType):
            raise TypeError("no generator")
        if action in ("call", "make") and not callable(target):
            raise TypeError(f"{type(target).__name__!r} object is not callable")
        found = super().perform(request, arguments, named)
        if action in ("call", "make") and isinstance(found, types.CoroutineType):
            return stand_ins.awaited(found)
        return found

    def surroundings_changed(self) -> Mapping[str, Any] | None:
        return self.surroundings.changes(self.encode) if self.surroundings is not None else None

    def change_surroundings(self, changes: Mapping[str, Any]) -> None:
        if self.surroundings is not None:
            self.surroundings.apply(changes, self.decode)

    def _receive(self) -> dict[str, Any]:
        message = super()._receive()
        printed = message.get("printed")
        if isinstance(printed, str) and sys.stdout is not self._stdout:
            sys.stdout.write(printed)
        return message


def _may_touch(target: Any, name: str) -> bool:
    """Whether the candidate may use an attribute: only one without an underscore, of an object that tests have
    defined."""
    if name[:1] == "_" or isinstance(target, type | types.FunctionType | types.ModuleType):
        return isinstance(target, type) and target.__module__ in _OF_TESTS and name[:1] != "_"
    kind = type(target)
    return (
        kind.__module__ in _OF_TESTS
        or isinstance(target, _LENT)
        or kind.__module__ == "unittest.mock"
        or (f"{kind.__module__}.{kind.__qualname__}" in _LOGGERS)
    )


class Space(dict[str, Any]):
    """Globals of a test. Names that the test does not define are the candidate's; builtins stay the test's own."""

    def __init__(self, names: "Names", entry_point: str) -> None:
        super().__init__(__name__="test", __builtins__=builtins)
        self._names = names
        if entry_point:
            self[entry_point] = names[entry_point]

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name):
            raise KeyError(name)
        if name not in self._names:
            self._names.miss()
            raise KeyError(name)
        return self._names[name]


class Names:
    """Names that the candidate defines. Plain values are looked up each time: functions may change them."""

    def __init__(self, judge: Judge, entry_point: str) -> None:
        self._judge = judge
        self._fixed: dict[str, Any] = {}
        self._known: list[str] = []
        self._replaced: dict[str, Any] = {}
        judge.wait()
        judge.share()
        found = judge.ask(do="names")
        for name, value in list(found.items())[:_NAMES_LIMIT]:
            if not isinstance(name, str):
                continue
            self._known.append(name)
            # A test may rely on an import of the solution. It gets the standard library's module, never the
            # solution's object, and never under another module's name.
            if isinstance(value, types.ModuleType):
                if name == value.__name__ or name not in peer.STANDARD:
                    self._fixed[name] = value
                else:
                    self._known.remove(name)
            elif value is not None:
                self._fixed[name] = value
        if entry_point and entry_point not in self._fixed:
            self._known.append(entry_point)
            self._fixed[entry_point] = self._method(entry_point)

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def miss(self) -> None:
        """Note that the tests look for a name that the program lacks."""
        self._judge.missed += 1

    def __iter__(self) -> Any:
        return iter(self._known)

    def __getitem__(self, name: str) -> Any:
        if name in self._fixed:
            return self._fixed[name]
        return self._judge.ask(do="get", name=name)

    def set(self, name: str, value: Any) -> None:
        """Replace the candidate's value of a name."""
        if name in self._known:
            self._replaced.setdefault(name, self[name])
        else:
            self._known.append(name)
        self._judge.ask(do="put", name=name, arguments=[value])
        self._fixed[name] = value

    def restore(self, name: str) -> None:
        """Restore the candidate's own value of a replaced name."""
        if name not in self._replaced:
            raise AttributeError(f"module 'solution' has no attribute {name!r} of its own")
        self._judge.ask(do="put", name=name, arguments=[self._replaced[name]])
        self._fixed[name] = self._replaced.pop(name)

    def _method(self, name: str) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            return self._judge.ask(do="entry", name=name, arguments=arguments, named=named)

        call.__name__ = name if name.isidentifier() else "candidate"
        return call


class Module(types.ModuleType):
    """The program as a module that tests import."""

    def __init__(self, name: str, names: Names) -> None:
        super().__init__(name)
        self.__dict__.update(_names=names, __all__=[one for one in names if one[:1] != "_"], __file__=f"{name}.py")

    def __getattr__(self, name: str) -> Any:
        if name in self._names:
            return self._names[name]
        if name[:2] != "__":
            self._names.miss()
        raise AttributeError(f"module 'solution' has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name[:2] == "__":
            super().__setattr__(name, value)
        else:
            self._names.set(name, value)

    def __delattr__(self, name: str) -> None:
        self._names.restore(name)


def judge(
    setup: str, tests: Sequence[str], frameworks: Sequence[str], entry_point: str, tell: Callable[[Any], None]
) -> None:
    """Report for each test whether it passes, as ``[index, verdict]``, one after the other.

    Each test has its own globals; ``setup`` runs before each.
    """
    for name, text in (("setup", setup), *((f"test {index}", test) for index, test in enumerate(tests))):
        if (fault := _unreadable(text, name)) is not None:
            for index in range(len(tests)):
                tell([index, fault])
            return
    conftest = "\n".join(test for test, framework in zip(tests, frameworks, strict=True) if framework == "conftest")
    line = Judge(wire.JsonConnection(_CHANNEL), "\n".join((setup, *tests)), lambda: _given(setup))
    try:
        names = Names(line, entry_point)
    except (EOFError, ValueError, TypeError, KeyError, AttributeError, RecursionError, stand_ins.CandidateFailedError):
        for index in range(len(tests)):
            tell([index, False])
        return
    for name in _MODULES:
        sys.modules[name] = Module(name, names)
    for index, (test, framework) in enumerate(zip(tests, frameworks, strict=True)):
        space = Space(names, entry_point)
        line.mirrors.forget()
        assert line.surroundings is not None
        line.surroundings.enter(space, f"{setup}\n{test}")
        if framework == "asserts":
            tell([index, _verdict(line, setup, test, space)])
        elif framework != "conftest":
            verdicts, path = suites.run(suites.TestRun(line, names, space, setup, test, conftest), framework)
            for verdict in verdicts:
                tell([index, verdict, path])


def _verdict(line: Judge, setup: str, test: str, space: Space) -> Verdict:
    line.doubts.clear()
    before, part = line.asked, "setup"
    space["__name__"] = "__main__"  # the test is a script, which may end with a guarded call
    sys.modules["__main__"] = suites.TestModule("__main__", space)
    try:
        exec(compile(setup, "<setup>", "exec"), space)  # nosec B102
        part = "test"
        exec(compile(test, "<test>", "exec"), space)  # nosec B102
    except BaseException as error:
        own = stand_ins.number_of(error) is None
        if own and isinstance(error, SystemExit) and not error.code and not line.doubts:
            return True  # the script's own end, as that of unittest.main
        if own and part == "setup" and line.asked == before and not isinstance(error, NameError | EOFError):
            return f"the setup fails by itself: {type(error).__name__}: {error}"
        if own and isinstance(error, ModuleNotFoundError):
            return f"a test cannot run in the jail: {error}"
        return line.doubts[0] if line.doubts else False
    return line.doubts[0] if line.doubts else True


def _unreadable(text: str, name: str) -> str | None:
    try:
        compile(text, f"<{name}>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"{name} is no Python: {error}"
    return None


def _given(setup: str) -> dict[str, Any]:
    """Classes that the setup defines. Programs build their results from them, such as nodes of trees."""
    space: dict[str, Any] = {"__name__": "test", "__builtins__": builtins}
    try:
        exec(compile(setup, "<setup>", "exec"), space)  # nosec B102
    except Exception:
        return {}  # it may need the program first: a failure is reported when a test runs
    return {name: value for name, value in space.items() if isinstance(value, type) and value.__module__ == "test"}
