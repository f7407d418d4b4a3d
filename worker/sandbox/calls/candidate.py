"""The candidate's jail of an assert test: runs the solution, then performs what the tests' jail requests."""

import builtins
import io
import pickle  # nosec B403
import random
import sys
import types
from collections.abc import Mapping
from typing import Any

from worker.sandbox.calls import peer, wire
from worker.sandbox.calls.shared_files import SharedFiles
from worker.sandbox.calls.surroundings import ProgramSurroundings, missing_names

_CHANNEL = 102


class CandidatePeer(peer.Peer):
    """The program's end of the line."""

    def __init__(self, line: wire.JsonConnection, space: dict[str, Any]) -> None:
        super().__init__(line)
        self._space = space
        self._surroundings = ProgramSurroundings(space)
        self.printed = io.BytesIO()
        """Text that the program has printed since the last message to the tests."""

    def perform(self, request: Mapping[str, Any], arguments: list[Any], named: dict[str, Any]) -> Any:
        space = self._space
        match request["do"]:
            case "names":
                return {name: _fixed(value) for name, value in space.items() if name[:2] != "__"}
            case "get":
                return space[request["name"]]
            case "put":
                space[request["name"]] = arguments[0]
                return None
            case "share":
                self.files = SharedFiles()
                return None
            case "report":
                return self._surroundings.report(named)
            case "fields":
                return _fields(self._kept[int(request["of"])])
            case "reduce":
                return pickle.dumps(self._kept[int(request["of"])], *arguments)
            case "restore":  # what this program has written itself
                return pickle.loads(arguments[0])  # nosec B301
            case "seed":
                return random.seed(*arguments, **named)
            case "entry":
                return _entry(space, request["name"])(*arguments, **named)
        return super().perform(request, arguments, named)

    def surroundings_changed(self) -> Mapping[str, Any] | None:
        return self._surroundings.changes(self.encode)

    def change_surroundings(self, changes: Mapping[str, Any]) -> None:
        self._surroundings.apply(changes, self.decode)

    def send(self, message: Mapping[str, Any]) -> None:
        if self.printed.tell():
            sys.stdout.flush()
            message = {**message, "printed": self.printed.getvalue().decode(errors="replace")}
            self.printed.seek(0)
            self.printed.truncate()
        super().send(message)


class _Input(io.TextIOBase):
    """Standard input, as far as a test provides it."""

    def __init__(self, line: CandidatePeer) -> None:
        self._line = line

    def readable(self) -> bool:
        return True

    def readline(self, size: int = -1) -> str:  # type: ignore[override]
        return str(self._line.ask(do="read_line"))

    def read(self, size: int | None = -1) -> str:
        return "".join(iter(self.readline, ""))


def serve(code: str, given: bool) -> int:
    """Run the solution, then serve requests until the channel ends.

    Args:
        code: the solution.
        given: whether the tests' setup defines classes that the solution may use.
    """
    from worker.sandbox.roles import program_module

    module = program_module(code, "solution")
    space = module.__dict__
    line = CandidatePeer(wire.JsonConnection(_CHANNEL), space)
    sys.stdout = io.TextIOWrapper(line.printed, "utf-8", write_through=True)
    if given:
        space.update(line.ask(do="given"))
    try:
        exec(compile(code, "solution.py", "exec"), space)  # nosec B102
    except EOFError:
        pass  # the program also reads input, which tests of its functions do not provide
    except SystemExit as stop:
        if stop.code:
            raise
    builtins.input = lambda *prompt: line.ask(do="input", arguments=prompt)
    sys.stdin = _Input(line)
    line.send({"ready": True, "missing": missing_names(code)})
    line.serve_all()
    return 0


def _fixed(value: Any) -> Any:
    """Functions, classes and modules, which stay the same under their name; None for values, which may change."""
    return value if callable(value) or isinstance(value, types.ModuleType) else None


def _fields(kind: type) -> list[Any]:
    """Name, type and whether the constructor takes it, of each field of a dataclass."""
    if "__dataclass_fields__" not in dir(kind):
        raise AttributeError(f"type object {kind.__name__!r} has no attribute '__dataclass_fields__'")
    import dataclasses

    return [(field.name, field.type, field.init) for field in dataclasses.fields(kind)]


def _entry(space: Mapping[str, Any], name: str) -> Any:
    return space[name] if name in space else getattr(space["Solution"](), name)
